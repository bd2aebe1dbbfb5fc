import { generateKeyPairSync, sign } from 'node:crypto'

/** A certificate for one host name, signed by itself, and its key. */
export function selfSigned(host: string): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(host)))))
  const validity = sequence(time('20200101000000Z'), time('20991231235959Z'))
  const alternative = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(host)))))
  const authority = sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.of(0xff)))))
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternative, authority)),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', content, privateKey))
  const cert = sequence(content, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (text: string) => der(0x18, Buffer.from(text))
