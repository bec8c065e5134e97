import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints every configuration key of Apache Kafka as one JSON object per line. */
public class ConfigKeys {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static void print(String scope, ConfigDef definition) throws Exception {
        Map<String, String> modes = DynamicBrokerConfig.dynamicConfigUpdateModes();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> out = new LinkedHashMap<>();
            out.put("scope", scope);
            out.put("name", key.name);
            out.put("type", key.type.toString());
            out.put("required", !key.hasDefault());
            out.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            out.put("importance", key.importance.toString());
            out.put("internal", key.internalConfig);
            out.put("mode", scope.equals("broker") ? modes.getOrDefault(key.name, "read-only") : null);
            out.put("validator", key.validator == null ? "" : key.validator.toString());
            List<String> synonyms = new ArrayList<>();
            if (scope.equals("topic") && ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.containsKey(key.name))
                ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.get(key.name).forEach(s -> synonyms.add(s.name()));
            if (scope.equals("group"))
                GroupConfig.brokerSynonym(key.name).ifPresent(synonyms::add);
            out.put("synonyms", synonyms);
            System.out.println(JSON.writeValueAsString(out));
        }
    }

    public static void main(String[] arguments) throws Exception {
        print("broker", AbstractKafkaConfig.CONFIG_DEF);
        print("topic", LogConfig.configDefCopy());
        Field groups = GroupConfig.class.getDeclaredField("CONFIG_DEF");
        groups.setAccessible(true);
        print("group", (ConfigDef) groups.get(null));
        print("dynamic", QuotaConfig.brokerQuotaConfigs());
    }
}
