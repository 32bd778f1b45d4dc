package secrets

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// Veil masks lines of text that come one after the other, and screens. One goroutine uses it at a time.
type Veil struct {
	now func() *Set
	key int // bytes of a private key that were seen; 0: none is being printed
}

// NewVeil is a veil over text that begins.
func NewVeil(s *Set) *Veil { return &Veil{now: func() *Set { return s }} }

// Veil is a veil over text that begins, for what the vault knows at each moment.
func (v *Vault) Veil() *Veil { return &Veil{now: v.Set} }

// Line returns a line as it may be shown. whole is set if the line has its end.
func (v *Veil) Line(line string, whole bool) string {
	set := v.now()
	if set.Empty() {
		return line
	}
	if v.key > 0 {
		if strings.Contains(line, pemEnd) || v.key > maxPEM {
			v.key = 0
		} else {
			if whole {
				v.key += len(line) + 1
			}
			return ""
		}
	}
	if whole && set.formats && strings.Contains(line, pemBegin) && strings.Contains(line, pemKey) {
		v.key = 1
	}
	return set.Text(line)
}

// Frame masks a screen below lines of history (Above).
func (v *Veil) Frame(f *vterm.Frame, above []vterm.Line) { v.now().Frame(f, above) }
