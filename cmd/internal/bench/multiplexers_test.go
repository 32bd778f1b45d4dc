//go:build unix

package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestMultiplexers checks that other programs do what is measured: a session is started, found, printed and attached
// to, a file is printed whole before its time is taken, and nothing is left.
func TestMultiplexers(t *testing.T) {
	for _, name := range []string{"tmux", "screen"} {
		t.Run(name, func(t *testing.T) {
			tier.Need(t, name)
			t.Setenv(companion.Env, "/bin/false") // the benches of the others start no longterm
			b, err := newSessionBench(&Program{}, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(b.dir) })
			for _, m := range b.others {
				if m.name() == name {
					tryMultiplexer(t, b, m)
					return
				}
			}
			t.Errorf("%s is not measured", name)
		})
	}
}

func tryMultiplexer(t *testing.T, b *sessionBench, m multiplexer) {
	defer m.close()
	for _, step := range []error{m.version(t.Context()), m.create(t.Context(), "echo", echoScript)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	for { // screen's session appears shortly after its command has ended
		pids, err := m.servers(t.Context())
		if err == nil && len(pids) > 0 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if err := m.list(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := b.client(t.Context(), m.attach("echo")[0], m.attach("echo")[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	err = c.readUntil("READY>")
	c.close()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.print(t.Context(), "echo"); err != nil {
		t.Error(err)
	}
	pids, err := m.servers(t.Context())
	if err != nil || len(pids) != 1 || pss(pids...) == 0 {
		t.Errorf("its servers are %v, %v", pids, err)
	}
	file := filepath.Join(b.dir, "file")
	if err := os.WriteFile(file, bytes.Repeat([]byte("a line\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := m.cat(t.Context(), file); err != nil || d <= 0 {
		t.Errorf("printing a file took %v, %v", d, err)
	}
	m.close()
	if pids, err := m.servers(t.Context()); err == nil && len(pids) > 0 {
		t.Errorf("left behind: %v", pids)
	}
}

func TestFigures(t *testing.T) {
	f := figure{Name: "create", Unit: "ms", Longterm: 2}
	f.addOther("tmux", 4, 0.5)
	f.addOther("screen", 1, 2)
	var out strings.Builder
	writeFigures(&out, []figure{f, {Name: "idle CPU", Unit: "%", Longterm: 0.25}})
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"longterm tmux unit cost ratio screen cost ratio",
		"create 2.00 4.00 ms 0.50 1.00 2.00",
		"idle CPU 0.25 - % - - -",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", out.String())
	}
}
