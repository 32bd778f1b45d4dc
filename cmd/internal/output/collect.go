//go:build unix

package output

import (
	"cmp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
)

// PipeCollector keeps both streams for --json.
type PipeCollector struct{ out *capture.Output }

func NewPipeCollector(e capture.Encoding, b BudgetFlags) *PipeCollector {
	return &PipeCollector{capture.NewOutput(e, cmp.Or(b.Bytes, MaxBudget))}
}

// DefaultBudget is how many bytes of output the result of an interrupted line has.
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

// Report puts what was collected into a result.
func (c *PipeCollector) Report(res *api.Result) {
	t := c.out.Finish()
	res.Output, res.Truncated, res.Merged = t.Merged, t.Truncated, !t.Separate
	if t.Separate {
		res.Stdout, res.Stderr = &t.Stdout, &t.Stderr
	}
	if t.Binary {
		res.Binary, res.BinaryBytes = true, t.BinaryBytes
	}
}
