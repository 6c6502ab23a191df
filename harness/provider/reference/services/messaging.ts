import type { Resource } from './rest-service.ts';

/** What an omnichannel messaging account holds: its channels and some conversations over them. */
export const MESSAGING_RESOURCES: readonly Resource[] = [
  {
    id: 'sms-main',
    type: 'channel',
    name: 'SMS long code',
    channel: 'sms',
    address: '+15550100',
    status: 'active',
  },
  {
    id: 'whatsapp-care',
    type: 'channel',
    name: 'WhatsApp customer care',
    channel: 'whatsapp',
    address: '+15550101',
    status: 'active',
  },
  {
    id: 'voice-ivr',
    type: 'channel',
    name: 'Voice menu',
    channel: 'voice',
    address: '+15550102',
    status: 'active',
  },
  {
    id: 'instagram-shop',
    type: 'channel',
    name: 'Instagram shop',
    channel: 'instagram',
    address: '@shop.example',
    status: 'paused',
  },
  {
    id: 'conversation-1001',
    type: 'conversation',
    name: 'Order delayed — “when does it arrive?”',
    channel: 'whatsapp',
    participants: ['+15550123'],
    messages: 6,
    lastMessageAt: '2026-03-02T10:31:07Z',
  },
  {
    id: 'conversation-1002',
    type: 'conversation',
    name: 'Appointment reminder',
    channel: 'sms',
    participants: ['+15550124'],
    messages: 2,
    lastMessageAt: '2026-03-02T09:00:00Z',
  },
];
