// transactional.js SERVERS ID TIMEOUT_MS: a transactional producer that is driven by lines.
//
// Each line of standard input is a call, its words separated by tabs; each gets one line in return:
// "ok", or "failed" and the error's type. The first line of the output says how the start went.
const { Kafka, logLevel } = require('kafkajs')
const readline = require('readline')

const [servers, transactionalId, timeout] = process.argv.slice(2)
const kafka = new Kafka({
  brokers: [servers],
  clientId: 'kafkajs',
  logLevel: logLevel.NOTHING,
  connectionTimeout: 30000,
  requestTimeout: 60000,
  retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 100 },
})
const producer = kafka.producer({
  transactionalId,
  transactionTimeout: Number(timeout),
  maxInFlightRequests: 1,
  idempotent: true,
})
let transaction = null

// kafkajs asks for its producer id when the first transaction begins, so the start begins one.
const calls = {
  async start() {
    await producer.connect()
    transaction = await producer.transaction()
  },
  async begin() {
    transaction = transaction || (await producer.transaction())
  },
  async send(topic, partition, value) {
    const messages = [{ value, partition: Number(partition) }]
    await transaction.send({ topic, messages, acks: -1 })
  },
  async offset(consumerGroupId, topic, partition, offset) {
    const partitions = [{ partition: Number(partition), offset }]
    await persist(() => transaction.sendOffsets({ consumerGroupId, topics: [{ topic, partitions }] }))
  },
  async commit() {
    await transaction.commit()
    transaction = null
  },
  async abort() {
    await transaction.abort()
    transaction = null
  },
}

// A coordinator of groups that is not ready yet: kafkajs leaves it to the application to try again.
async function persist(call) {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!error.retriable) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}

async function answer(call, ...words) {
  try {
    await calls[call](...words)
    console.log('ok')
  } catch (error) {
    console.error(error)
    console.log(`failed\t${error.type || error.name}`)
  }
}

async function main() {
  await answer('start')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    await answer(...line.split('\t'))
  }
}

main().then(() => process.exit(0))
