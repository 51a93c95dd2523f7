// Hands a folder, as a zip without compression, to the forge's artifacts API.
'use strict'
const fs = require('fs')
const path = require('path')

const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
  return n
})

function crc32(data) {
  let crc = 0xffffffff
  for (const byte of data) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16
function zip(files) {
  const bodies = []
  const directory = []
  let at = 0
  for (const [name, data] of files) {
    const common = Buffer.alloc(26) // what both headers have
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, place, Buffer.from(name))
    bodies.push(body)
    at += body.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, listed, end])
}

async function main() {
  const { INPUT_NAME, INPUT_PATH, GITHUB_RUN_ID } = process.env
  const { BRAT_ACTIONS_RESULTS_URL, BRAT_ACTIONS_RUNTIME_TOKEN } = process.env
  const names = fs.readdirSync(INPUT_PATH).sort()
  const files = names.map((name) => [name, fs.readFileSync(path.join(INPUT_PATH, name))])
  const url = `${BRAT_ACTIONS_RESULTS_URL}_artifacts/${GITHUB_RUN_ID}/${INPUT_NAME}`
  const headers = { authorization: `Bearer ${BRAT_ACTIONS_RUNTIME_TOKEN}` }
  const answer = await fetch(url, { method: 'PUT', headers, body: zip(files) })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  console.log(`${names.length} files went to artifact ${INPUT_NAME}`)
}

main().catch((error) => {
  console.log(`::error::${error.message}`)
  process.exitCode = 1
})
