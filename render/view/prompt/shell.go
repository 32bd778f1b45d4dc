package prompt

import (
	"fmt"
	"strings"
	"time"
)

// Limits of the shown output of commands.
const (
	maxBlocks     = 50
	maxBlockLines = 500
)

// block is a command with its output, or a text.
type block struct {
	id        int // id of the command; 0: a text
	command   string
	lines     []string
	open      string // the unfinished line
	dropped   int    // number of dropped lines
	done      bool
	cancelled bool
	result    Result
}

// Result is the outcome of a command.
type Result struct {
	Exit     *int   // nil: a signal ended it, or unknown
	Signal   string // that signal
	Error    string // why it could not be run
	Duration time.Duration
}

// transcript holds the output of commands, each after its command line.
type transcript struct {
	blocks []*block
	scroll int // number of rows below the visible ones
	ids    int
}

// begin adds a command and returns the action that runs it.
func (t *transcript) begin(text string) Action {
	t.ids++
	t.add(&block{id: t.ids, command: text})
	return Action{Kind: Run, ID: t.ids, Text: text}
}

func (t *transcript) add(b *block) {
	t.blocks = append(t.blocks, b)
	if len(t.blocks) > maxBlocks {
		t.blocks = t.blocks[1:]
	}
}

// Output appends output of a command: plain text, split anywhere.
func (p *Prompt) Output(id int, text string) {
	if b := p.out.block(id); b != nil {
		b.write(clean(text))
	}
}

func (b *block) write(text string) {
	text = b.open + text
	for {
		l, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		b.lines = append(b.lines, l)
		text = rest
	}
	b.open = text
	if over := len(b.lines) - maxBlockLines; over > 0 {
		b.dropped += over
		b.lines = append(b.lines[:0:0], b.lines[over:]...)
	}
}

// ShowResult shows the outcome of a command.
func (p *Prompt) ShowResult(id int, r Result) {
	if b := p.out.block(id); b != nil {
		b.done, b.result = true, r
		if b.open != "" {
			b.write("\n")
		}
	}
}

// block returns the unfinished command with a number, or nil.
func (t *transcript) block(id int) *block {
	for _, b := range t.blocks {
		if b.id == id && id > 0 && !b.done {
			return b
		}
	}
	return nil
}

// running returns the newest command that runs and was not cancelled, or nil.
func (t *transcript) running() *block {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if b := t.blocks[i]; b.id > 0 && !b.done && !b.cancelled {
			return b
		}
	}
	return nil
}

// clear removes all blocks except running commands.
func (t *transcript) clear() {
	var left []*block
	for _, b := range t.blocks {
		if b.id > 0 && !b.done {
			left = append(left, b)
		}
	}
	t.blocks, t.scroll = left, 0
}

func (t *transcript) scrollBy(rows int) { t.scroll = max(t.scroll+rows, 0) }

// end returns a block's last row: the result of the command, or "…" while it runs.
func (b *block) end() string {
	switch r := &b.result; {
	case b.id == 0:
		return ""
	case !b.done && b.cancelled:
		return "… ending"
	case !b.done:
		return "…"
	case r.Error != "":
		return "✗ " + r.Error
	case r.Exit != nil && *r.Exit == 0:
		return "✓ " + took(r.Duration)
	case r.Exit != nil:
		return fmt.Sprintf("✗ exit %d  %s", *r.Exit, took(r.Duration))
	case r.Signal != "":
		return "✗ " + r.Signal + "  " + took(r.Duration)
	}
	return "✗ ended  " + took(b.result.Duration)
}

func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
