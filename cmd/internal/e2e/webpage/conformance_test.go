//go:build unix && conformance

package webpage

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// library returns the script of a package that npm installed in PAGE_NODE.
func library(t *testing.T, path string) string {
	t.Helper()
	dir := os.Getenv("PAGE_NODE")
	if dir == "" {
		t.Fatal("PAGE_NODE is not set: .ci/run page sets it")
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAxe checks each page with axe-core, in each theme, on a desktop and on a phone.
//
// FEATURES: R112
func TestAxe(t *testing.T) {
	tier.Full(t)
	axe := library(t, "axe-core/axe.min.js")
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "asks", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a; exec cat`)
	i.Run("new", "-n", "shell", "--", "sh")
	i.Try("exec", "shell", "ls /nowhere")
	i.Run("run", "--background", "--policy", "readonly", "--", "touch", i.Dir+"/made")
	i.Run("new", "-n", "bad", "--", "sh", "-c", "exit 7")
	i.Run("config", "set", "hosts.names", "far") // the page offers to query it
	id := i.Info("shell").ID
	for name, s := range map[string]browser.Screen{"desk": browser.Desk, "phone": browser.Phone} {
		p := open(i, b, s)
		p.Wait("the failure in the inbox", `longterm.store.inbox.some((e) => e.kind === 'failed')`)
		p.Eval(axe+"\nvoid 0", nil)
		look := func(what string) {
			t.Helper()
			var faults []struct {
				ID, Help string
				Nodes    []struct{ HTML, FailureSummary string }
			}
			p.Eval(`axe.run(document, { resultTypes: ['violations'], rules: { 'scrollable-region-focusable': { enabled: true } } }).then((r) => r.violations.map((v) => ({ ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map((n) => ({ HTML: n.html.slice(0, 200), FailureSummary: n.failureSummary })) })))`, &faults)
			for _, f := range faults {
				t.Errorf("%s, %s: %s (%s): %+v", name, what, f.ID, f.Help, f.Nodes)
			}
		}
		for _, theme := range []string{"dark", "light", "high-contrast"} {
			p.Eval(fmt.Sprintf(`void (document.documentElement.dataset.theme = %q)`, theme), nil)
			for _, page := range []string{"#/", "#/approvals", "#/jobs", "#/search/nowhere", "#/s/" + id} {
				p.Eval(fmt.Sprintf(`void (location.hash = %q)`, page), nil)
				p.Wait("the page", `document.querySelector('main, [role=main]')`)
				look(theme + " " + page)
			}
			p.Wait("the terminal", `longterm.page.term?.frames`)
			var canvas bool
			if p.Eval(flooded, &canvas); !canvas {
				t.Errorf("%s, %s: no canvas", name, theme)
			}
			look(theme + " flood")
			p.Eval(`longterm.page.term.grid.rest()`, nil)
			look(theme + " after a flood")
			p.Click("button[title=Commands]")
			p.Wait("commands", `document.querySelector('.panel .entry')`)
			look(theme + " commands")
			p.Click("button[title=Close]")
			p.Click("button[title=Time]")
			p.Click("button[title=More]")
			look(theme + " menu and time")
			p.Key("Escape", "Escape", 0)
			p.Click("button[title=Time]")
		}
	}
}

// TestXterm compares the page with xterm.js for recordings of real programs: text, widths and attributes of each cell.
//
// FEATURES: R36, R112
func TestXterm(t *testing.T) {
	tier.Full(t)
	xterm := library(t, "@xterm/xterm/lib/xterm.js")
	files, err := filepath.Glob("../../../../vterm/testdata/recordings/*.raw")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	oracle := b.Page(browser.Desk)
	oracle.Eval(xterm+"\nvoid 0", nil)
	oracle.Eval(library(t, "@xterm/addon-unicode11/lib/addon-unicode11.js")+"\nvoid 0", nil)
	p.Call("Page.bringToFront", map[string]any{}, nil) // others are not drawn
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".raw")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		i.Run("new", "-n", name, "--rows", "25", "--", "sh", "-c", "stty raw -echo; cat "+abs+"; printf '\\033]2;all-shown\\007'; exec sleep 100000")
		show(i, p, name)
		p.Wait("all of it", `longterm.page.term.screen.title === 'all-shown'`)
		s := screenOf(i, name)
		p.Wait("the newest screen", fmt.Sprintf(`longterm.page.term.screen.v >= %d && !longterm.page.term.due && !longterm.page.term.grid.canvas`, s.Version))
		var got [][]cell
		p.Eval(drawn, &got)
		var want [][]cell
		oracle.Eval(fmt.Sprintf(`(async () => {
			const t = new Terminal({ cols: %d, rows: %d, allowProposedApi: true, scrollback: 1000 });
			t.loadAddon(new Unicode11Addon.Unicode11Addon());
			t.unicode.activeVersion = '11';
			const data = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
			await new Promise((done) => t.write(data, done));
			const out = [], buf = t.buffer.active;
			for (let y = 0; y < t.rows; y++) {
				const line = buf.getLine(buf.baseY + y), cells = [];
				for (let x = 0; x < t.cols; x++) {
					const c = line.getCell(x);
					if (c.getWidth() === 0) continue;
					cells.push({ Text: c.getChars() || ' ', Bold: !!c.isBold(), Italic: !!c.isItalic(), Strike: !!c.isStrikethrough(), Overline: !!c.isOverline(), Under: c.isUnderline() ? 'single' : '', Width: c.getWidth() });
				}
				const bare = (c) => c.Text === ' ' && !c.Bold && !c.Italic && !c.Strike && !c.Overline && !c.Under;
				while (cells.length && bare(cells.at(-1))) cells.pop();
				out.push(cells);
			}
			t.dispose();
			return out;
		})()`, s.Cols, s.Rows, base64.StdEncoding.EncodeToString(raw)), &want)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, xterm.js has %d", name, len(got), len(want))
		}
		for y := range want {
			if g, w := bare(got[y]), bare(want[y]); g != w {
				t.Errorf("%s, row %d:\n%s\nxterm.js has\n%s", name, y, g, w)
			}
		}
		i.Run("kill", name)
	}
}

// bare writes a row's cells for comparison. Blanks at its end count only with visible attributes.
func bare(cells []cell) string {
	for len(cells) > 0 {
		c := cells[len(cells)-1]
		if c.Text != " " || c.Strike || c.Overline || c.Under != "" {
			break
		}
		cells = cells[:len(cells)-1]
	}
	var s strings.Builder
	for _, c := range cells {
		s.WriteString(c.Text)
		if c.Text == " " {
			c.Bold, c.Italic = false, false // invisible
		}
		if c.Bold || c.Italic || c.Strike || c.Overline || c.Under != "" || c.Width != 1 {
			fmt.Fprintf(&s, "<%t %t %t %t %t %d>", c.Bold, c.Italic, c.Strike, c.Overline, c.Under != "", c.Width)
		}
	}
	return s.String()
}
