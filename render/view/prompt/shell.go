package prompt

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of what is shown of commands.
const (
	maxBlocks     = 50
	maxBlockLines = 500
)

// block is a command and what it printed, or a text to read.
type block struct {
	id        int // 0: a text
	command   string
	lines     []string
	open      string // the unfinished line
	dropped   int    // lines that are not kept
	done      bool
	cancelled bool
	result    Result
}

// Result is how a command went.
type Result struct {
	Exit     *int   // nil: a signal ended it, or unknown
	Signal   string // that signal
	Error    string // it could not be run
	Duration time.Duration
}

// begin echoes a command and has it run.
func (p *Prompt) begin(text string) Action {
	p.ids++
	p.addBlock(&block{id: p.ids, command: text})
	return Action{Kind: Run, ID: p.ids, Text: text}
}

func (p *Prompt) addBlock(b *block) {
	p.blocks = append(p.blocks, b)
	if len(p.blocks) > maxBlocks {
		p.blocks = p.blocks[1:]
	}
}

// Output shows what a command printed: plain text, cut anywhere.
func (p *Prompt) Output(id int, text string) {
	if b := p.block(id); b != nil {
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

// Finished shows how a command went.
func (p *Prompt) Finished(id int, r Result) {
	if b := p.block(id); b != nil {
		b.done, b.result = true, r
		if b.open != "" {
			b.write("\n")
		}
	}
}

func (p *Prompt) block(id int) *block {
	for _, b := range p.blocks {
		if b.id == id && id > 0 && !b.done {
			return b
		}
	}
	return nil
}

// running is the newest command that runs and was not ended yet; nil: none.
func (p *Prompt) running() *block {
	for i := len(p.blocks) - 1; i >= 0; i-- {
		if b := p.blocks[i]; b.id > 0 && !b.done && !b.cancelled {
			return b
		}
	}
	return nil
}

// clearBlocks takes away all but what runs.
func (p *Prompt) clearBlocks() {
	var left []*block
	for _, b := range p.blocks {
		if b.id > 0 && !b.done {
			left = append(left, b)
		}
	}
	p.blocks, p.scroll = left, 0
}

func (p *Prompt) scrollBy(rows int) { p.scroll = max(p.scroll+rows, 0) }

// end is a block's last row: how the command went, or that it runs.
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
