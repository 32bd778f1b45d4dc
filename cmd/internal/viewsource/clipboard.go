//go:build unix

package viewsource

import (
	"context"
	"os"
	"os/exec"
	"strings"
)

// systemClipboard copies text by an installed clipboard program.
type systemClipboard struct{ argv []string }

// clipboards lists clipboard programs that read text from standard input, each with the environment variable that it
// requires.
var clipboards = []struct {
	env  string
	argv []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
	{"", []string{"pbcopy"}},
}

// findClipboard returns the system's clipboard program, or nil without one.
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
