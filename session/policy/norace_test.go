//go:build !race

package policy

const moreWork = 1
