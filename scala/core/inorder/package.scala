package io.sash.core

/** Algorithms for arrival in order, and under their names here what they are asked by. */
package object inorder {
  type InOrderWindow = elements.InOrderWindow
  type Coalescing = elements.Coalescing
  type Suffixes = elements.Suffixes
  type Stretches = elements.Stretches
}
