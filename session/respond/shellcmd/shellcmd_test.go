//go:build unix

package shellcmd

import (
	"strings"
	"testing"
	"time"
)

// FEATURES: R54
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name      string
		c         Command
		want, err string
	}{
		{"arguments", Command{Line: `printf '%s|%s' "$1" "$2"`, Args: []string{"a b", "$(x)"}}, "a b|$(x)", ""},
		{"input", Command{Line: "cat", Stdin: strings.NewReader("in")}, "in", ""},
		{"fails", Command{Line: "echo hush >&2; exit 3"}, "", "exit status 3"},
		{"too much", Command{Line: "yes | head -1000"}, "", "more than 100 bytes"},
		{"hangs", Command{Line: "sleep 600; true", Timeout: 50 * time.Millisecond}, "", "no answer within 50ms"},
		{"leaves something behind", Command{Line: "sleep 5 & echo x"}, "x\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Max = 100
			if tt.c.Timeout == 0 {
				tt.c.Timeout = time.Minute
			}
			got, err := tt.c.Run(t.Context())
			switch {
			case tt.err == "" && (err != nil || string(got) != tt.want):
				t.Errorf("%q %v, want %q", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "hush")):
				t.Errorf("%q %v, want %q", got, err, tt.err)
			}
		})
	}
}
