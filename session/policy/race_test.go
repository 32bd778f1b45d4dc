//go:build race

package policy

// moreWork is the factor of allocations under the race detector, where pools randomly drop entries.
const moreWork = 10
