package io.sash.core

/** The algorithms for elements that arrive in order, and aliases for their interfaces. */
package object inorder {
  type InOrderWindow = elements.InOrderWindow
  type Coalescing = elements.Coalescing
  type Suffixes = elements.Suffixes
  type Stretches = elements.Stretches
}
