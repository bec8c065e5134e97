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

/**
 * RawLoad HOST PORT FRAME_FILE CONNECTIONS SECONDS: sends one request frame again and again on each
 * connection, one in flight, with its correlation id counted up; prints a line of JSON. The length
 * of the first reply is the length of all: an error reply has another length and ends the run.
 */
public class RawLoad {
    static final int CORRELATION_ID_AT = 8;

    static final class Client extends Thread {
        final Socket socket = new Socket();
        final byte[] frame;
        final long end;
        long[] nanos = new long[1 << 16];
        int count;
        Exception failure;

        Client(InetSocketAddress address, byte[] frame, long end) throws Exception {
            this.frame = frame.clone();
            this.end = end;
            socket.setTcpNoDelay(true);
            socket.connect(address);
        }

        @Override
        public void run() {
            try (socket) {
                OutputStream out = socket.getOutputStream();
                DataInputStream in =
                    new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16));
                byte[] reply = null;
                while (count == 0 || System.nanoTime() < end) {
                    ByteBuffer.wrap(frame).putInt(CORRELATION_ID_AT, count);
                    long started = System.nanoTime();
                    out.write(frame);
                    int length = in.readInt();
                    if (reply == null) reply = new byte[length];
                    if (length != reply.length)
                        throw new IllegalStateException("a reply of " + length + " bytes after one of " + reply.length);
                    in.readFully(reply);
                    if (ByteBuffer.wrap(reply).getInt() != count)
                        throw new IllegalStateException("wrong correlation id");
                    if (count == nanos.length) nanos = Arrays.copyOf(nanos, count * 2);
                    nanos[count++] = System.nanoTime() - started;
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
        for (int i = 0; i < connections; i++) clients.add(new Client(address, frame, end));
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
            "{\"per_second\": %.1f, \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"mb_per_second\": %.1f}%n",
            total / seconds, all[at / 2] / 1e6, all[(int) (at * 0.99)] / 1e6,
            total * (double) frame.length / seconds / 1e6);
    }
}
