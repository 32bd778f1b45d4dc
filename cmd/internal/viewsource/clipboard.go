//go:build unix

package viewsource

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// systemClipboard copies by the first program that is there.
type systemClipboard struct{ argv []string }

// clipboards are the programs that take text for the clipboard on standard input, and
// the variable without which they cannot.
var clipboards = []struct {
	env  string
	argv []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
	{"", []string{"pbcopy"}},
}

// findClipboard is nil where there is none.
func findClipboard() *systemClipboard {
	for _, c := range clipboards {
		if c.env != "" && os.Getenv(c.env) == "" {
			continue
		}
		if path, err := exec.LookPath(c.argv[0]); err == nil {
			return &systemClipboard{append([]string{path}, c.argv[1:]...)}
		}
	}
	return nil
}

func (s *systemClipboard) Copy(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}
