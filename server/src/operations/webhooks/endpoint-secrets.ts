import { badUserInput } from '../../domain/errors.ts'
import { decrypt, encrypt } from '../../store/secrets/keyring.ts'
import { newSigningSecret } from '../../webhooks/signature.ts'
import type { Service } from '../call/service.ts'

type Keys = Pick<Service, 'keyring' | 'webhooks'>

/**
 * A new signing secret, as it is stored. Fails without a master key: the key that seals it would be stored unencrypted
 * beside it.
 */
export function newSealedSecret({ keyring, webhooks }: Keys, appId: string, endpointId: string): Buffer {
  if (keyring.isEmpty) {
    throw badUserInput(
      'Signing secrets of webhook endpoints cannot be stored without a master key: set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE and restart the service',
    )
  }
  return encrypt(webhooks.sealingKey, encryptionContext(appId, endpointId), Buffer.from(newSigningSecret()))
}

export function openSecret(
  { webhooks }: Pick<Keys, 'webhooks'>,
  appId: string,
  endpointId: string,
  sealed: Buffer,
) {
  return decrypt(webhooks.sealingKey, encryptionContext(appId, endpointId), sealed).toString()
}

const encryptionContext = (appId: string, endpointId: string): string =>
  JSON.stringify(['webhook endpoint', appId, endpointId])
