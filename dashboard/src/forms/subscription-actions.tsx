import { Button, Group, Menu } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { type MenuAction, MoreMenu } from '../ui/more-menu.tsx'
import { providerName } from '../ui/price.ts'
import { useProviderLink } from '../ui/provider-link.ts'
import { CancelSubscription } from './cancel-subscription.tsx'
import { ExtendTrial } from './extend-trial.tsx'
import { KeepSubscription } from './keep-subscription.tsx'
import { TryRefund } from './try-refund.tsx'

const UNDO_CHANGE = graphql(`
  mutation CancelScheduledChange($appId: String!, $userId: String!) {
    cancelScheduledChange(appId: $appId, userId: $userId) { id }
  }
`)

export interface ActionableSubscription {
  id: string
  userId: string
  userName: string | null
  status: 'ACTIVE' | 'CANCELLED'
  cancelAt: string | null
  trialEndsAt: string | null
  scheduled: object | null
  package: { name: string; isAddon: boolean }
  billing: { provider: string; ref: string; status: string } | null
}

interface SubscriptionActionsProps {
  appId: string
  subscription: ActionableSubscription
  /** The page of one subscription shows its main action as a button; a row of a list shows only the menu. */
  onPage?: boolean
  /** offered on the page */
  onChangePlan?: () => void
}

/** What can be done with a subscription: the main action by its state, the rest in a menu. */
export function SubscriptionActions({
  appId,
  subscription,
  onPage = false,
  onChangePlan,
}: SubscriptionActionsProps) {
  const may = useMay()
  const { actions, dialogs, busy } = useSubscriptionActions(appId, subscription)
  const { package: p, userId, billing, status } = subscription
  const link = useProviderLink(appId, billing)
  const change = onChangePlan &&
    status === 'ACTIVE' &&
    !p.isAddon && { label: 'Change plan', onClick: onChangePlan, disabled: !may('changeSubscription') }
  const all = [...actions.filter(({ isMain }) => isMain), change, ...actions.filter(({ isMain }) => !isMain)]
  const main = onPage ? (actions.find(({ isMain }) => isMain) ?? change) : null
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {main && (
        <Button onClick={main.onClick} disabled={main.disabled ?? false} loading={busy}>
          {main.label}
        </Button>
      )}
      <MoreMenu
        label={`Actions for ${p.name} of ${userId}`}
        actions={all.filter((one) => one !== main)}
        size={onPage ? 'md' : 'sm'}
      >
        {link && (
          <Menu.Item component="a" href={link} target="_blank" rel="noreferrer">
            Open in {providerName(billing?.provider ?? '')}
          </Menu.Item>
        )}
      </MoreMenu>
      {dialogs}
    </Group>
  )
}

/** The actions that the state of a subscription allows, for a menu, and their dialogs. */
export function useSubscriptionActions(appId: string, subscription: ActionableSubscription | undefined) {
  const may = useMay()
  const [open, setOpen] = useState<'cancel' | 'keep' | 'extend' | 'sandbox' | null>(null)
  const close = () => setOpen(null)
  const undo = useChange(UNDO_CHANGE, {
    said: `${subscription?.userName ?? subscription?.userId} stays on ${subscription?.package.name}.`,
  })
  if (!subscription) return { actions: [], dialogs: null, busy: false }
  const { userId, billing, cancelAt, trialEndsAt, scheduled } = subscription
  const isLive = subscription.status === 'ACTIVE'
  const byHand = isTrialByHand(subscription)
  const offered: (StateAction | false)[] = [
    isLive &&
      scheduled !== null && {
        // It can be scheduled again, so nothing is asked first.
        label: 'Undo change',
        onClick: () => undo.mutate({ appId, userId }),
        disabled: !may('cancelScheduledChange'),
        isMain: true,
      },
    isLive &&
      cancelAt !== null &&
      scheduled === null &&
      !byHand && {
        label: 'Keep subscription',
        onClick: () => setOpen('keep'),
        disabled: !may('keepSubscription'),
        // Only a payment prevents the end of a subscription that is past due.
        isMain: billing?.status !== 'past_due',
      },
    isLive &&
      byHand && {
        label: 'Extend trial',
        onClick: () => setOpen('extend'),
        disabled: !may('extendTrial'),
        isMain: scheduled === null,
      },
    billing?.provider === 'sandbox' && {
      label: 'Simulate refund or dispute',
      onClick: () => setOpen('sandbox'),
      disabled: !may('reverseSandboxPayment'),
    },
    isLive && {
      label: 'Cancel subscription',
      onClick: () => setOpen('cancel'),
      disabled: !may('cancelSubscription'),
      danger: true,
    },
  ]
  const dialogs = (
    <>
      {isLive && (
        <CancelSubscription
          opened={open === 'cancel'}
          onClose={close}
          appId={appId}
          subscription={subscription}
        />
      )}
      {isLive && cancelAt !== null && (
        <KeepSubscription
          opened={open === 'keep'}
          onClose={close}
          appId={appId}
          subscription={subscription}
          cancelAt={cancelAt}
        />
      )}
      {isLive && trialEndsAt !== null && (
        <ExtendTrial
          opened={open === 'extend'}
          onClose={close}
          appId={appId}
          subscription={subscription}
          endsAt={trialEndsAt}
        />
      )}
      {billing?.provider === 'sandbox' && (
        <TryRefund opened={open === 'sandbox'} onClose={close} appId={appId} subscription={subscription} />
      )}
    </>
  )
  return { actions: offered.filter((action) => action !== false), dialogs, busy: undo.isPending }
}

/** `isMain`: what the state suggests to do. */
type StateAction = MenuAction & { isMain?: boolean }

/** A trial that a provider gives is extended and kept there. */
const isTrialByHand = ({ trialEndsAt, cancelAt, billing }: ActionableSubscription) =>
  trialEndsAt !== null && trialEndsAt === cancelAt && !billing
