//go:build unix

package main

import (
	"cmp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
)

// pipeCollector keeps both streams for --json.
type pipeCollector struct{ out *capture.Output }

func newPipeCollector(e capture.Encoding, b budgetFlags) *pipeCollector {
	return &pipeCollector{capture.NewOutput(e, cmp.Or(b.bytes, defaultBudget))}
}

// defaultBudget is what a result has of an output unless more is asked for.
const defaultBudget = 16 << 10

func (c *pipeCollector) write(o api.Output) error {
	data := o.Data
	if len(o.Streams) == 0 {
		c.out.Write("merged", data)
	}
	for _, r := range o.Streams {
		c.out.Write(r.Stream, data[:r.Bytes])
		data = data[r.Bytes:]
	}
	return nil
}

func (c *pipeCollector) flush() error { return nil }

// report puts what was collected into a result.
func (c *pipeCollector) report(res *api.Result) {
	t := c.out.Finish()
	res.Output, res.Truncated, res.Merged = t.Merged, t.Truncated, !t.Apart
	if t.Apart {
		res.Stdout, res.Stderr = &t.Stdout, &t.Stderr
	}
	if t.Binary {
		res.Binary, res.BinaryBytes = true, t.BinaryBytes
	}
}
