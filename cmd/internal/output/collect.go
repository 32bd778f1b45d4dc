//go:build unix

package output

import (
	"cmp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pipeoutput"
)

// PipeCollector collects both output streams for --json.
type PipeCollector struct{ out *pipeoutput.Output }

func NewPipeCollector(e pipeoutput.Encoding, b BudgetFlags) *PipeCollector {
	return &PipeCollector{pipeoutput.NewOutput(e, cmp.Or(b.Bytes, MaxBudget))}
}

// DefaultBudget is the output budget of the result of an interrupted line, in bytes.
const DefaultBudget = 16 << 10

func (c *PipeCollector) Put(o api.Output) error {
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

func (c *PipeCollector) Flush() error { return nil }

// FillResult writes the collected output into a result.
func (c *PipeCollector) FillResult(res *api.Result) {
	t := c.out.Finish()
	res.Output, res.Truncated, res.Merged = t.Merged, t.Truncated, !t.Separate
	if t.Separate {
		res.Stdout, res.Stderr = &t.Stdout, &t.Stderr
	}
	res.Encoding = t.Encoding
	if t.Binary {
		res.Binary, res.BinaryBytes = true, t.BinaryBytes
	}
}
