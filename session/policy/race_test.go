//go:build race

package policy

// moreWork: under the race detector pools drop what they are given, at random.
const moreWork = 10
