// administration.js SERVERS TOPIC: topics, partitions, configs, offsets and groups; prints JSON.
const { Kafka, ConfigResourceTypes, logLevel } = require('kafkajs')

const [servers, topic] = process.argv.slice(2)
const kafka = new Kafka({ brokers: [servers], logLevel: logLevel.ERROR })

async function main() {
  const admin = kafka.admin()
  await admin.connect()
  const seen = {}
  seen.created = await admin.createTopics({ topics: [{ topic, numPartitions: 3 }] })
  const partitions = async () =>
    (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
  seen.partitions = await partitions()
  await admin.createPartitions({ topicPartitions: [{ topic, count: 5 }] })
  seen.grown = await partitions()
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ ...resource, configEntries: [{ name: 'retention.ms', value: '86400000' }] }],
  })
  const described = await admin.describeConfigs({ resources: [resource], includeSynonyms: false })
  const entries = described.resources[0].configEntries
  seen.retention = entries.find(e => e.configName === 'retention.ms').configValue
  seen.offsets = (await admin.fetchTopicOffsets(topic))
    .sort((a, b) => a.partition - b.partition)
    .map(o => [o.low, o.high])
  await admin.setOffsets({ groupId: topic, topic, partitions: [{ partition: 1, offset: '3' }] })
  const committed = await admin.fetchOffsets({ groupId: topic, topics: [topic] })
  seen.committed = committed[0].partitions.find(p => p.partition === 1).offset
  seen.group_state = (await admin.describeGroups([topic])).groups[0].state
  await admin.deleteGroups([topic])
  await admin.deleteTopics({ topics: [topic] })
  const listed = async () => (await admin.listTopics()).includes(topic)
  for (let look = 0; look < 600 && (await listed()); look++) {
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  seen.listed_after_delete = await listed()
  await admin.disconnect()
  console.log(JSON.stringify(seen))
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1) })
