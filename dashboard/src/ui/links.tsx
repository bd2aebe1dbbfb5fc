import { Anchor, type AnchorProps, Button, type ButtonProps, Menu, type MenuItemProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

type Plain<Props> = Props & Omit<ComponentProps<'a'>, keyof Props>

/** Mantine's look on the router's links, whose targets are type-checked. */
export const AnchorLink = createLink((props: Plain<AnchorProps>) => <Anchor component="a" {...props} />)
export const ButtonLink = createLink((props: Plain<ButtonProps>) => <Button component="a" {...props} />)
export const MenuItemLink = createLink((props: Plain<MenuItemProps>) => (
  <Menu.Item component="a" {...props} />
))
