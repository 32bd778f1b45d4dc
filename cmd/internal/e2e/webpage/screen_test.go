//go:build unix

package webpage

import (
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// colourful has every attribute, colour and width, box drawing, links that may be followed and some that may not.
const colourful = `\033[1mbold\033[m \033[2mdim\033[m \033[3mitalic\033[m \033[4mone\033[m \033[4:2mtwo\033[m \033[4:3;58;2;255;80;80mcurly\033[m ` +
	`\033[4:4mdots\033[m \033[4:5mdashes\033[m \033[9mstrike\033[m \033[7minverse\033[m \033[8mhidden\033[m \033[53mover\033[m\r\n` +
	`\033[31mred\033[42mongreen\033[m \033[38;5;208morange\033[m \033[38;2;1;2;3;48;2;250;251;252mtrue\033[m \033[95mbright\033[m\r\n` +
	`wide 漢字 half é combined e\314\201 family 👩‍👩‍👧 flag 🇩🇪 end\r\n` +
	`┌─┬─┐ ╔═╗ ╭─╮ ▀▄█▌▐░▒▓ ⣿\r\n└─┴─┘ ╚═╝ ╰─╯ ┏━┓\r\n` +
	`\033]8;;https://example.org/a\033\\good\033]8;;\033\\ \033]8;;javascript:alert(1)\033\\bad\033]8;;\033\\ <b>&amp;</b>\r\n` +
	`\033[44m\033[K\033[m\033[5 q`

// cell is the content of a cell: from the daemon, or as the browser drew it.
type cell struct {
	Text                           string
	Bold, Italic, Strike, Overline bool
	Under                          string
	Width                          int
}

// cellsOf are a row's cells as the daemon has them.
func cellsOf(l render.Line) []cell {
	var out []cell
	for _, s := range l.Spans {
		i := 0
		for _, r := range s.Text {
			w := 1
			if s.Widths != nil {
				w = int(s.Widths[i])
			}
			i++
			if w == 0 && len(out) > 0 {
				out[len(out)-1].Text += string(r)
				continue
			}
			out = append(out, cell{string(r), s.Bold, s.Italic, s.Strike, s.Overline, s.Underline, w})
		}
	}
	for len(out) > 0 && out[len(out)-1] == (cell{Text: " ", Width: 1}) {
		out = out[:len(out)-1]
	}
	return out
}

// drawn reads the cells of all rows out of the elements' computed styles.
const drawn = `(() => {
	const t = longterm.page.term, shapes = { solid: 'single', double: 'double', wavy: 'curly', dotted: 'dotted', dashed: 'dashed' };
	const seg = new Intl.Segmenter('und', { granularity: 'grapheme' });
	return [...t.grid.rows.children].map((row) => {
		const cells = [];
		for (const n of row.childNodes) {
			const el = n.nodeType === 3 ? null : n, st = el && getComputedStyle(el), lines = st ? st.textDecorationLine : '';
			const link = el?.tagName === 'A' && !el.style.textDecorationLine;
			const one = el?.classList.contains('c');
			for (const text of one ? [n.textContent] : [...n.textContent]) cells.push({ Text: text, Bold: st?.fontWeight === '700', Italic: st?.fontStyle === 'italic',
				Strike: lines.includes('line-through'), Overline: lines.includes('overline'), Under: lines.includes('underline') && !link ? shapes[st.textDecorationStyle] : '',
				Width: one ? Math.round(parseFloat(el.style.width) / t.m.w) : 1 });
		}
		while (cells.length && cells.at(-1).Text === ' ' && !['Bold', 'Italic', 'Strike', 'Overline', 'Under'].some((k) => cells.at(-1)[k])) cells.pop();
		return cells;
	});
})()`

func screenOf(i *e2e.Instance, name string) render.Screen {
	i.T.Helper()
	return e2e.Decode[render.Screen](i.T, i.Run("screen", name, "--format", "json"))
}

// same compares the browser's drawing with the daemon's screen.
func same(i *e2e.Instance, p *browser.Page, name string) {
	i.T.Helper()
	s := screenOf(i, name)
	p.Wait("the newest screen", fmt.Sprintf(`longterm.page.term.screen.v >= %d && !longterm.page.term.due && !longterm.page.term.grid.canvas`, s.Version))
	var got [][]cell
	p.Eval(drawn, &got)
	if len(got) != s.Rows {
		i.T.Fatalf("%d rows, want %d", len(got), s.Rows)
	}
	for n, l := range s.Lines {
		want := cellsOf(l)
		if len(want)+len(got[n]) > 0 && !reflect.DeepEqual(got[n], want) {
			i.T.Errorf("row %d: the browser shows\n%v\nthe session has\n%v", n, got[n], want)
		}
	}
}

// TestPageShowsTheScreen compares the page with the session's screen: text, attributes, and columns.
//
// FEATURES: R36, R112
func TestPageShowsTheScreen(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "colours", "--", "sh", "-c", "printf '"+colourful+"'; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "colours")
	shows(p, "wide")
	p.Wait("the cursor's shape", `longterm.page.term.screen.cursor.shape === 'bar'`)
	same(i, p, "colours")
	var off []string
	p.Eval(`(() => {
		const t = longterm.page.term, box = t.grid.rows.getBoundingClientRect(), off = [];
		for (const row of t.grid.rows.children) {
			let col = 0;
			for (const [k, n] of [...row.childNodes].entries()) {
				const r = document.createRange();
				r.selectNode(n);
				const at = (n.nodeType === 3 ? r : n).getBoundingClientRect();
				if (Math.abs(at.left - box.left - col * t.m.w) > 0.1) off.push(n.textContent + ' at ' + (at.left - box.left) / t.m.w + ', not ' + col);
				col += row.pieces[k].n;
			}
		}
		return off;
	})()`, &off)
	if len(off) > 0 {
		t.Errorf("pieces that are not at their columns: %v", off)
	}
	// Backgrounds are as high as rows. Other text has no box, since a flood would have hundreds.
	var boxes map[string]bool
	p.Eval(`Object.fromEntries([...document.querySelectorAll('.term .rows span.t')].map((e) => [e.textContent,
		e.style.backgroundColor ? Math.abs(e.getBoundingClientRect().height - longterm.page.term.m.h) < 0.1 : getComputedStyle(e).display === 'inline']))`, &boxes)
	for _, text := range []string{"red", "ongreen", "inverse", "orange", "curly"} {
		if !boxes[text] {
			t.Errorf("%s is drawn differently: %v", text, boxes)
		}
	}
	var links []string
	p.Eval(`[...document.querySelectorAll('.term .rows a')].map((a) => a.href + ' ' + a.rel + ' ' + a.textContent)`, &links)
	if want := []string{"https://example.org/a noopener noreferrer good"}; !reflect.DeepEqual(links, want) {
		t.Errorf("links %q", links)
	}
	keep(t, p, "colours")
	quiet(t, b)
}

// TestAlternateScreen switches to the alternate screen and back while the page is open. The result equals that of a
// page opened before.
//
// FEATURES: R112
func TestAlternateScreen(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "alt", "--", "sh", "-c", `echo before; read x; printf '\033[?1049h\033[Hwithin'; read x; printf '\033[?1049l'; echo after; exec cat`)
	p := open(i, b, browser.Desk)
	show(i, p, "alt")
	shows(p, "before")
	i.Run("send", "alt", "--enter", "")
	shows(p, "within")
	same(i, p, "alt")
	i.Run("send", "alt", "--enter", "")
	shows(p, "after")
	shows(p, "before")
	same(i, p, "alt")
	quiet(t, b)
}

// TestSelection copies selected text without padding, with wrapped rows joined.
//
// FEATURES: R112
func TestSelection(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	long := strings.Repeat("0123456789", 10)
	i.Run("new", "-n", "copy", "--", "sh", "-c", "printf 'first  \\r\\n"+long+"\\r\\n\\033[41mlast\\033[m\\r\\n'; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "copy")
	shows(p, "last")
	var text string
	p.Eval(`(() => {
		const rows = longterm.page.term.grid.rows;
		getSelection().setBaseAndExtent(rows.children[0], 0, rows.children[3], rows.children[3].childNodes.length);
		const data = new DataTransfer(), e = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true });
		rows.dispatchEvent(e);
		return data.getData('text/plain');
	})()`, &text)
	if want := "first\n" + long + "\nlast"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	quiet(t, b)
}

// TestReconnect kills the daemon. The page reconnects without missing output, and input typed in between arrives once.
//
// FEATURES: R83, R112
func TestReconnect(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	fifo := e2e.FIFO(t)
	i.Run("new", "-n", "back", "--", "sh", "-c", "stty -echo; echo before; while read l; do echo $l >&2; done < "+fifo+" & while read l; do echo \"got $l\"; done")
	p := open(i, b, browser.Desk)
	show(i, p, "back")
	shows(p, "before")
	for n := range 3 {
		pid := i.Status().DaemonPID
		p.Eval(`void (longterm.link.opened = 0, longterm.link.on('state', (s) => { if (s === 'open') longterm.link.opened++; }))`, nil)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		p.Wait("it is noticed", `longterm.link.state !== 'open' || longterm.link.opened`)
		p.Type(fmt.Sprintf("line%d\n", n))
		p.Wait("connected again", `longterm.link.opened && longterm.link.state === 'open'`)
		shows(p, fmt.Sprintf("got line%d", n))
		same(i, p, "back")
	}
	for n := range 3 {
		if got := strings.Count(i.Run("output", "back"), fmt.Sprintf("got line%d", n)); got != 1 {
			t.Errorf("line %d arrived %d times", n, got)
		}
	}
}
