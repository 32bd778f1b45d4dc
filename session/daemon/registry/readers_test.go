//go:build unix

package registry

import (
	"fmt"
	"testing"
)

// Of a program too many to be named it is told that there is one.
//
// FEATURES: R62
func TestManyReaders(t *testing.T) {
	var names []string
	for n := range 12 {
		names = withReader(names, fmt.Sprint("p", n))
	}
	if len(names) != maxReaders+1 || names[maxReaders-1] != "p7" || names[maxReaders] != manyReaders {
		t.Errorf("%q", names)
	}
}
