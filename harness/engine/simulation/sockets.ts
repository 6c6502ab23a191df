import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { compressing } from '../../reference/behavior/handshake.ts';

/** What is known of what the TCP sockets of this process have sent each other. */
export interface Sockets {
  /**
   * Whether each octet that was written has been read, and each ending been seen. False as well where that cannot be
   * told: of sockets to other processes, of TLS and of compressed messages, and where octets wait to be read.
   */
  isStill(): boolean;
  stop(): void;
}

/** A socket, and the ports of its connection once that stands: its own and the other one where it was opened. */
interface End {
  readonly socket: Socket;
  connection: string | null;
}

/** Watches every socket that is opened from here on. */
export function watchSockets(): Sockets {
  const [opened, accepted] = [new Set<End>(), new Set<End>()];
  const onOpened = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    const end: End = { socket, connection: null };
    opened.add(end);
    socket.once('connect', () => {
      end.connection = `${socket.localPort} ${socket.remotePort}`;
    });
  };
  const onAccepted = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    accepted.add({ socket, connection: `${socket.remotePort} ${socket.localPort}` });
  };
  subscribe('net.client.socket', onOpened);
  subscribe('net.server.socket', onAccepted);

  return {
    isStill() {
      const others = new Map([...accepted].map((end) => [end.connection, end]));
      for (const end of opened) {
        const other = end.connection === null ? undefined : others.get(end.connection);
        if (other === undefined) {
          // Nobody ever took it, and nobody will.
          if (end.connection === null && end.socket.destroyed) opened.delete(end);
          else return false;
        } else {
          others.delete(end.connection);
          if (!isRead(end.socket, other.socket) || !isRead(other.socket, end.socket)) return false;
          if (!end.socket.destroyed || !other.socket.destroyed) continue;
          opened.delete(end);
          accepted.delete(other);
        }
      }
      return others.size === 0;
    },
    stop() {
      unsubscribe('net.client.socket', onOpened);
      unsubscribe('net.server.socket', onAccepted);
    },
  };
}

/** Whether nothing of what one end has sent is still to be seen by the other. */
function isRead(from: Socket, to: Socket): boolean {
  if (to.destroyed) return true;
  if ('encrypted' in from || 'encrypted' in to || compressing.has(from)) return false;
  const isEnded = from.destroyed || from.writableEnded;
  return to.bytesRead === from.bytesWritten && (!isEnded || to.readableEnded);
}
