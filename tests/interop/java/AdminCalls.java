import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Apache's AdminClient behind a pipe: a call a line, an answer a line.
 *
 * Arguments: bootstrap servers.
 *
 *   create TOPIC PARTITIONS FACTOR          ok
 *   assign TOPIC REPLICA,REPLICA ...        ok; the replicas of each partition
 *   set TOPIC KEY VALUE                     ok
 *   grow TOPIC PARTITIONS                   ok
 *   delete TOPIC                            ok
 *   describe TOPIC                          ok LEADER;REPLICAS;ISR;ELR;LAST_KNOWN_ELR ..., by partition
 *   topics                                  ok TOPIC ..., in order
 *   quorum                                  ok LEADER
 *   feature NAME LEVEL TYPE                 ok; the type of upgrade by name
 *
 * What fails is answered with `error CLASS MESSAGE`.
 */
public final class AdminCalls {
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("reconnect.backoff.max.ms", "200");
        settings.put("metadata.max.age.ms", "1000");
        try (Admin admin = Admin.create(settings)) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(answer(admin, line.split(" ")));
                System.out.flush();
            }
        }
    }

    private static String answer(Admin admin, String[] call) throws InterruptedException {
        try {
            String told = call(admin, call);
            return told.isEmpty() ? "ok" : "ok " + told;
        } catch (ExecutionException failure) {
            Throwable cause = failure.getCause();
            return "error " + cause.getClass().getSimpleName() + " " + cause.getMessage();
        }
    }

    private static String call(Admin admin, String[] call)
            throws ExecutionException, InterruptedException {
        switch (call[0]) {
            case "create":
                NewTopic topic = new NewTopic(
                    call[1], Integer.parseInt(call[2]), Short.parseShort(call[3]));
                admin.createTopics(List.of(topic)).all().get();
                return "";
            case "assign":
                Map<Integer, List<Integer>> replicas = new HashMap<>();
                for (int word = 2; word < call.length; word++) {
                    replicas.put(word - 2, numbers(call[word]));
                }
                admin.createTopics(List.of(new NewTopic(call[1], replicas))).all().get();
                return "";
            case "set":
                ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, call[1]);
                Collection<AlterConfigOp> change = List.of(
                    new AlterConfigOp(new ConfigEntry(call[2], call[3]), AlterConfigOp.OpType.SET));
                admin.incrementalAlterConfigs(Map.of(resource, change)).all().get();
                return "";
            case "grow":
                admin.createPartitions(
                    Map.of(call[1], NewPartitions.increaseTo(Integer.parseInt(call[2])))).all().get();
                return "";
            case "delete":
                admin.deleteTopics(List.of(call[1])).all().get();
                return "";
            case "describe":
                return described(admin, call[1]);
            case "topics":
                return String.join(" ", admin.listTopics().names().get().stream().sorted().toList());
            case "quorum":
                return "" + admin.describeMetadataQuorum().quorumInfo().get().leaderId();
            case "feature":
                FeatureUpdate update = new FeatureUpdate(
                    Short.parseShort(call[2]), FeatureUpdate.UpgradeType.valueOf(call[3]));
                admin.updateFeatures(Map.of(call[1], update), new UpdateFeaturesOptions()).all().get();
                return "";
            default:
                throw new IllegalArgumentException(call[0]);
        }
    }

    private static String described(Admin admin, String topic)
            throws ExecutionException, InterruptedException {
        List<String> partitions = new ArrayList<>();
        for (TopicPartitionInfo at
                : admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions()) {
            String leader = at.leader() == null ? "none" : at.leader().idString();
            partitions.add(String.join(";",
                leader, ids(at.replicas()), ids(at.isr()), ids(at.elr()), ids(at.lastKnownElr())));
        }
        return String.join(" ", partitions);
    }

    private static String ids(List<Node> nodes) {
        return String.join(",", Optional.ofNullable(nodes).orElse(List.of())
            .stream().map(Node::idString).toList());
    }

    private static List<Integer> numbers(String text) {
        List<Integer> found = new ArrayList<>();
        for (String number : text.split(",")) {
            found.add(Integer.parseInt(number));
        }
        return found;
    }
}
