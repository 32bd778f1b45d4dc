//go:build unix

package request

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// millis is the value of a duration flag that is stored in milliseconds.
type millis struct{ to *int64 }

// Millis returns a flag value that reads a duration and stores it as milliseconds.
func Millis(to *int64) pflag.Value { return millis{to} }

func (m millis) String() string {
	if m.to == nil || *m.to == 0 {
		return ""
	}
	return (time.Duration(*m.to) * time.Millisecond).String()
}

func (m millis) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration, as in 500ms or 2s", s)
	}
	*m.to = max(1, d.Milliseconds())
	return nil
}

func (m millis) Type() string { return "duration" }
