import type { Resource } from './rest-service.ts';

/** What an omnichannel messaging account holds: its channels and some conversations over them. */
export const MESSAGING_RESOURCES: readonly Resource[] = [
  channel('sms-main', 'SMS long code', 'sms', '+15550100'),
  channel('whatsapp-care', 'WhatsApp customer care', 'whatsapp', '+15550101'),
  channel('voice-ivr', 'Voice menu', 'voice', '+15550102'),
  channel('instagram-shop', 'Instagram shop', 'instagram', '@shop.example', 'paused'),
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

function channel(id: string, name: string, kind: string, address: string, status = 'active'): Resource {
  return { id, type: 'channel', name, channel: kind, address, status };
}
