import java.io.DataInputStream;
import java.io.BufferedInputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * RawLoad HOST PORT FRAME_FILE CONNECTIONS SECONDS [IN_FLIGHT [BATCH_AT [SESSION_AT]]]: sends one request frame
 * again and again on each connection, IN_FLIGHT (1) at a time, with its correlation id counted up;
 * prints a line of JSON. The length of the first reply is the length of all: an error reply has
 * another length and ends the run. With BATCH_AT, where the record batch begins in a frame that ends
 * with it, each connection is an idempotent producer: id, epoch 0 and sequence are written into it.
 * With SESSION_AT, where the session id and epoch are in a Fetch frame, each connection fetches in a session:
 * the first request makes it, the others continue it and name the partition as if it had moved on.
 */
public class RawLoad {
    static final int CORRELATION_ID_AT = 8;
    static final int CRC_AT = 17, ATTRIBUTES_AT = 21, PRODUCER_ID_AT = 43, EPOCH_AT = 51, SEQUENCE_AT = 53;
    static final int EPOCH_BEHIND_ID = 4, SESSION_ID_AT = 10; // in a request, in a reply

    static final class Client extends Thread {
        final Socket socket = new Socket();
        final byte[] frame;
        final ByteBuffer fields;
        final long end;
        final int batchAt, sessionAt;
        final long[] started;
        long[] nanos = new long[1 << 16];
        int sent, count;
        Exception failure;

        Client(
            InetSocketAddress address, byte[] frame, long end, int inFlight, int batchAt, int sessionAt, int number)
            throws Exception {
            this.frame = frame.clone();
            this.fields = ByteBuffer.wrap(this.frame);
            this.end = end;
            this.started = new long[inFlight];
            this.batchAt = batchAt;
            this.sessionAt = sessionAt;
            if (batchAt > 0) fields.putLong(batchAt + PRODUCER_ID_AT, number).putShort(batchAt + EPOCH_AT, (short) 0);
            socket.setTcpNoDelay(true);
            socket.connect(address);
        }

        void send(OutputStream out) throws Exception {
            fields.putInt(CORRELATION_ID_AT, sent);
            if (batchAt > 0) {
                fields.putInt(batchAt + SEQUENCE_AT, sent);
                CRC32C crc = new CRC32C();
                crc.update(frame, batchAt + ATTRIBUTES_AT, frame.length - batchAt - ATTRIBUTES_AT);
                fields.putInt(batchAt + CRC_AT, (int) crc.getValue());
            }
            if (sessionAt > 0) fields.putInt(sessionAt + EPOCH_BEHIND_ID, sent);
            started[sent++ % started.length] = System.nanoTime();
            out.write(frame);
        }

        @Override
        public void run() {
            try (socket) {
                OutputStream out = socket.getOutputStream();
                DataInputStream in =
                    new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
                byte[] reply = null;
                while (sent < started.length) send(out);
                while (count < sent) {
                    int length = in.readInt();
                    if (reply == null) reply = new byte[length];
                    if (length != reply.length)
                        throw new IllegalStateException("a reply of " + length + " bytes after one of " + reply.length);
                    in.readFully(reply);
                    if (ByteBuffer.wrap(reply).getInt() != count)
                        throw new IllegalStateException("wrong correlation id");
                    if (sessionAt > 0) fields.putInt(sessionAt, ByteBuffer.wrap(reply).getInt(SESSION_ID_AT));
                    if (count == nanos.length) nanos = Arrays.copyOf(nanos, count * 2);
                    long now = System.nanoTime();
                    nanos[count] = now - started[count % started.length];
                    count++;
                    if (now < end) send(out);
                }
            } catch (Exception e) {
                failure = e;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        InetSocketAddress address = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        byte[] frame = Files.readAllBytes(Path.of(args[2]));
        int connections = Integer.parseInt(args[3]);
        long started = System.nanoTime();
        long end = started + (long) (Double.parseDouble(args[4]) * 1e9);
        List<Client> clients = new ArrayList<>();
        int inFlight = args.length > 5 ? Integer.parseInt(args[5]) : 1;
        int batchAt = args.length > 6 ? Integer.parseInt(args[6]) : -1;
        int sessionAt = args.length > 7 ? Integer.parseInt(args[7]) : -1;
        for (int i = 0; i < connections; i++)
            clients.add(new Client(address, frame, end, inFlight, batchAt, sessionAt, i));
        for (Client client : clients) client.start();
        long total = 0;
        for (Client client : clients) {
            client.join();
            if (client.failure != null) throw client.failure;
            total += client.count;
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        long[] all = new long[(int) total];
        int at = 0;
        for (Client client : clients) {
            System.arraycopy(client.nanos, 0, all, at, client.count);
            at += client.count;
        }
        Arrays.sort(all);
        System.out.printf(
            "{\"count\": %d, \"per_second\": %.1f, \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"mb_per_second\": %.1f}%n",
            total, total / seconds, all[at / 2] / 1e6, all[(int) (at * 0.99)] / 1e6,
            total * (double) frame.length / seconds / 1e6);
    }
}
