import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Apache Kafka's generated message classes behind a pipe.
 *
 * In, on stdin: int32 count, then count items of
 *     int8 operation | utf name | int16 version | int32 length | bytes
 * Out, on stdout: the same count of
 *     int8 status (0 ok, 1 refused) | int32 length | bytes
 *
 * 'D' takes wire bytes; answers int32 consumed | int32 length | bytes written again | JSON.
 *     The written bytes are empty with a length of -1 where the message cannot be written again.
 * 'R' does the same without writing again.
 * 'J' takes JSON and answers wire bytes. A refusal answers the exception's text.
 */
public class CodecOracle {
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.common.metadata.",
        "org.apache.kafka.raft.generated.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
        "org.apache.kafka.coordinator.share.generated.",
        "org.apache.kafka.server.log.remote.metadata.storage.generated.",
    };

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private record Codec(Constructor<?> reader, Method toJson, Method fromJson) {
    }

    private static final Map<String, Codec> CODECS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException e) {
                return;
            }
            ByteArrayOutputStream answers = new ByteArrayOutputStream();
            DataOutputStream answer = new DataOutputStream(answers);
            for (int i = 0; i < count; i++) {
                int operation = in.readByte();
                String name = in.readUTF();
                short version = in.readShort();
                byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                byte[] result;
                int status = 0;
                try {
                    result = operation == 'J'
                        ? fromJson(name, version, bytes)
                        : decode(name, version, bytes, operation == 'D');
                } catch (InvocationTargetException e) {
                    status = 1;
                    result = String.valueOf(e.getCause()).getBytes(StandardCharsets.UTF_8);
                } catch (RuntimeException e) {
                    status = 1;
                    result = e.toString().getBytes(StandardCharsets.UTF_8);
                }
                answer.writeByte(status);
                answer.writeInt(result.length);
                answer.write(result);
            }
            answers.writeTo(out);
            out.flush();
        }
    }

    private static byte[] decode(String name, short version, byte[] bytes, boolean again)
            throws ReflectiveOperationException, IOException {
        Codec codec = codec(name);
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        Object message = codec.reader.newInstance(new ByteBufferAccessor(buffer), version);
        byte[] json = MAPPER.writeValueAsBytes((JsonNode) codec.toJson.invoke(null, message, version));
        ByteArrayOutputStream collected = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(collected);
        out.writeInt(buffer.position());
        if (again) {
            byte[] written = write((Message) message, version);
            out.writeInt(written.length);
            out.write(written);
        } else {
            out.writeInt(-1);
        }
        out.write(json);
        return collected.toByteArray();
    }

    private static byte[] fromJson(String name, short version, byte[] bytes)
            throws ReflectiveOperationException, IOException {
        JsonNode node = MAPPER.readTree(bytes);
        return write((Message) codec(name).fromJson.invoke(null, node, version), version);
    }

    private static byte[] write(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.array();
    }

    private static Codec codec(String name) throws ReflectiveOperationException {
        Codec known = CODECS.get(name);
        if (known != null)
            return known;
        Class<?> message = find(name);
        Class<?> converter = Class.forName(message.getName() + "JsonConverter");
        Codec codec = new Codec(
            message.getConstructor(Readable.class, short.class),
            converter.getMethod("write", message, short.class),
            converter.getMethod("read", JsonNode.class, short.class));
        CODECS.put(name, codec);
        return codec;
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String where : PACKAGES) {
            for (String suffix : new String[]{"Data", ""}) {
                try {
                    Class<?> found = Class.forName(where + name + suffix);
                    if (Message.class.isAssignableFrom(found))
                        return found;
                } catch (ClassNotFoundException e) {
                    // the next one
                }
            }
        }
        throw new ClassNotFoundException(name);
    }
}
