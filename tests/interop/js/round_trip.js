// round_trip.js SERVERS TOPIC CODEC: produces 20 records, reads them back in a group, prints JSON.
const { Kafka, CompressionTypes, logLevel } = require('kafkajs')

const [servers, topic, codec] = process.argv.slice(2)
const kafka = new Kafka({ brokers: [servers], clientId: 'kafkajs', logLevel: logLevel.ERROR })
const compression = codec === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None

async function main() {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true })
  await admin.disconnect()
  const producer = kafka.producer({ idempotent: true })
  await producer.connect()
  const messages = [...Array(20).keys()].map(n => ({
    key: n % 5 === 0 ? null : `key-${n % 3}`,
    value: n % 7 === 6 ? null : `value-${n}`,
    headers: { n: String(n) },
    timestamp: String(1700000000000 + n * 1000),
  }))
  await producer.send({ topic, messages, compression, acks: -1 })
  await producer.disconnect()
  const consumer = kafka.consumer({ groupId: topic })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  const seen = { offsets: [], keys: [], values: [], headers: [], timestamps: [] }
  await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('timed out')), 200000).unref()
    consumer.run({
      eachMessage: async ({ message }) => {
        const text = bytes => (bytes === null ? null : bytes.toString())
        seen.offsets.push(Number(message.offset))
        seen.keys.push(text(message.key))
        seen.values.push(text(message.value))
        seen.headers.push({ n: text(message.headers.n) })
        seen.timestamps.push(message.timestamp)
        if (seen.offsets.length === 20) resolve()
      },
    }).catch(reject)
  })
  await consumer.disconnect()
  console.log(JSON.stringify(seen))
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1) })
