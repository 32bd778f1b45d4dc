//go:build unix

package registry

import (
	"fmt"
	"testing"
)

// TestManyReaders checks that if too many programs read a terminal, the result is that one exists, without a name.
//
// FEATURES: R62
func TestManyReaders(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 12 {
		names = withReader(names, fmt.Sprint("p", n))
	}
	if len(names) != maxReaders+1 || names[maxReaders-1] != "p7" || names[maxReaders] != manyReaders {
		t.Errorf("%q", names)
	}
}
