package sessiontest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
)

// Option changes how Golden compares.
type Option func(*comparison)

type comparison struct {
	styles  bool
	replace []func(string) string
}

// Styles compares colours and attributes as well as text.
func Styles(c *comparison) { c.styles = true }

// Replace replaces what matches a regular expression in each row, before anything is
// compared: times, paths, versions. with is as in regexp.ReplaceAllString.
func Replace(expr, with string) Option {
	re := regexp.MustCompile(expr)
	return func(c *comparison) {
		c.replace = append(c.replace, func(s string) string { return re.ReplaceAllString(s, with) })
	}
}

// stillFor is how long a screen that is not the golden one must not change before it is
// taken for the final one.
const stillFor = time.Second

// Golden waits until the screen equals testdata/NAME.screen: its rows, the cursor, the title. A screen that stays
// different fails the test, with a diff. With the test flag -update it writes the file instead; a test package defines
// that flag by
//
//	var _ = flag.Bool("update", false, "write golden files")
func (p *Program) Golden(name string, options ...Option) {
	p.t.Helper()
	var c comparison
	for _, o := range options {
		o(&c)
	}
	path := filepath.Join("testdata", filepath.FromSlash(name)+".screen")
	if updating() {
		p.write(path, p.stableScreen(&c, ""))
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.t.Fatalf("%s not found; run the test with -update to write it\nscreen:\n%s", path, indent(p.Screen()))
	case err != nil:
		p.t.Fatal(err)
	}
	if got := p.stableScreen(&c, string(want)); got != string(want) {
		p.t.Fatalf("the screen is not %s (- wanted, + shown):\n%s", path, diff(lines(string(want)), lines(got)))
	}
}

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func (p *Program) write(path, screen string) {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(screen), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

// stableScreen returns the screen once it equals the wanted one, or is unchanged while the program waits or has ended,
// or at the timeout.
func (p *Program) stableScreen(c *comparison, want string) string {
	ctx, cancel := p.wait()
	defer cancel()
	w := p.p.Session().Watch()
	defer w.Close()
	still := time.NewTimer(stillFor)
	defer still.Stop()
	for {
		s := p.p.Screen()
		got := describeScreen(&s, c)
		if got == want {
			return got
		}
		select {
		case <-w.Frames:
			still.Reset(stillFor)
		case <-still.C:
			if st := p.p.Session().Status(); want == "" || st.State != session.Running || st.Needs.Kind != "" {
				return got
			}
			still.Reset(stillFor)
		case <-w.Done:
			return got
		case <-ctx.Done():
			return got
		}
	}
}

// describeScreen returns a screen as text, which Golden compares and writes.
func describeScreen(s *program.Snapshot, c *comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d, cursor %d,%d", s.Cols, s.Rows, s.Cursor.Y, s.Cursor.X)
	if !s.Cursor.Visible {
		b.WriteString(" hidden")
	}
	if s.Alt {
		b.WriteString(", alternate screen")
	}
	if s.Title != "" {
		fmt.Fprintf(&b, ", title %q", c.clean(s.Title))
	}
	b.WriteByte('\n')
	for row := range strings.Lines(s.Text()) {
		b.WriteString(strings.TrimRight("|"+c.clean(row), "\n") + "\n")
	}
	if c.styles {
		c.describeStyles(&b, s.Lines)
	}
	return b.String()
}

func (c *comparison) clean(s string) string {
	for _, f := range c.replace {
		s = f(s)
	}
	return s
}

// describeStyles lists the spans that do not look like plain text.
func (c *comparison) describeStyles(b *strings.Builder, rows []render.Line) {
	for i := range rows {
		for j := range rows[i].Spans {
			s := &rows[i].Spans[j]
			if look := look(s); look != "" {
				fmt.Fprintf(b, "%d,%d %q:%s\n", rows[i].Row, s.Col, c.clean(s.Text), look)
			}
		}
	}
}

// look describes the style of a span, or returns "" if it is plain.
func look(s *render.Span) string {
	var b strings.Builder
	for _, a := range []struct {
		on   bool
		name string
	}{
		{s.Bold, "bold"}, {s.Dim, "dim"}, {s.Italic, "italic"}, {s.Underline != "", s.Underline + "-underline"},
		{s.Blink, "blink"}, {s.Inverse, "inverse"}, {s.Conceal, "conceal"}, {s.Strike, "strike"}, {s.Overline, "overline"},
	} {
		if a.on {
			b.WriteString(" " + a.name)
		}
	}
	color := func(name, rgb string, index *uint8) {
		switch {
		case index != nil:
			fmt.Fprintf(&b, " %s=%d", name, *index)
		case rgb != "":
			fmt.Fprintf(&b, " %s=%s", name, rgb)
		}
	}
	color("fg", s.FG, s.FGIndex)
	color("bg", s.BG, s.BGIndex)
	color("underline", s.ULColor, nil)
	if s.Link != "" {
		fmt.Fprintf(&b, " link=%s", s.Link)
	}
	return b.String()
}
