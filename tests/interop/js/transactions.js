// transactions.js SERVERS TOPIC ID GROUP: commits, aborts and commits with offsets; prints the fate of a fenced producer.
const { Kafka, logLevel } = require('kafkajs')

const [servers, topic, transactionalId, groupId] = process.argv.slice(2)
const kafka = new Kafka({ brokers: [servers], clientId: 'kafkajs', logLevel: logLevel.NOTHING })

function makeProducer() {
  return kafka.producer({ transactionalId, maxInFlightRequests: 1, idempotent: true })
}

async function send(transaction, word) {
  const messages = [0, 1, 2, 3].map(n => ({ value: `${word}-${n}`, partition: n % 2 }))
  await transaction.send({ topic, messages, acks: -1 })
}

async function main() {
  const producer = makeProducer()
  await producer.connect()
  const first = await producer.transaction()
  await send(first, 'committed')
  await first.commit()
  const second = await producer.transaction()
  await send(second, 'aborted')
  await second.abort()
  const third = await producer.transaction()
  await send(third, 'with-offsets')
  await third.sendOffsets({
    consumerGroupId: groupId,
    topics: [{ topic, partitions: [{ partition: 0, offset: '7' }] }],
  })
  await third.commit()
  const zombie = await producer.transaction()
  await send(zombie, 'zombie')
  const successor = makeProducer()
  await successor.connect()
  const last = await successor.transaction()
  await send(last, 'successor')
  await last.commit()
  let fenced = 'nothing'
  try {
    await zombie.commit()
  } catch (error) {
    fenced = error.type || error.name
  }
  await successor.disconnect()
  await producer.disconnect()
  console.log(JSON.stringify({ fenced }))
}

main().then(() => process.exit(0), error => {
  console.error(error)
  process.exit(1)
})
