package history

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// RestoreAt restores an emulator to its state after off bytes of output, from the nearest checkpoint or screen and the
// journal. read reads output that is not in the journal yet, from an offset on; it returns no data at the end.
func (p *Replayer) RestoreAt(ctx context.Context, engine vterm.Engine, off uint64, read func(from uint64, buf []byte) (p []byte, next uint64, err error)) error {
	from, size := p.Restore(engine, off)
	if screen, ok := p.nearestScreen(off, from+CheckpointBytes); ok {
		if engine.Restore(screen.Snapshot) == nil {
			from, size, p.restoredTime = screen.Offset, uint64(len(screen.Snapshot)), screen.Time
		} else { // for example of a newer version; the emulator's state is undefined
			from, size = p.Restore(engine, off)
		}
	}
	if size == 0 { // without a snapshot the size comes from the journal
		if cols, rows, err := p.Journal.SizeAt(from); err == nil && cols > 0 {
			engine.Resize(cols, rows)
		}
	}
	at, err := p.Replay(ctx, engine, from, off, func(*journal.Record, uint64) { engine.Events(nil) })
	if err != nil {
		return fmt.Errorf("replay history: %w", err)
	}
	return replayUnjournaled(ctx, engine, max(from, at), off, read)
}

// replayUnjournaled feeds the output that is not in the journal yet. next is the offset to continue at, which is beyond p if
// output was lost.
func replayUnjournaled(ctx context.Context, engine vterm.Engine, from, until uint64, read func(uint64, []byte) (p []byte, next uint64, err error)) error {
	buf := make([]byte, 64<<10)
	for from < until {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, next, err := read(from, buf[:min(uint64(len(buf)), until-from)])
		if err != nil {
			return err
		}
		if next <= from {
			return nil
		}
		if past := max(next, until) - until; past > 0 { // starts later than requested
			b = b[:uint64(len(b))-min(past, uint64(len(b)))]
		}
		_, _ = engine.Write(b) // never fails
		from = next
	}
	return nil
}

// Replay feeds an emulator the output and the sizes of the journal between two offsets, and returns the offset that it
// reached. It drops replies to queries: the terminal answered them when the program ran. each is called after each
// piece of output, when there may be events, and with each mark and size.
func (p *Replayer) Replay(ctx context.Context, engine vterm.Engine, from, until uint64, each func(rec *journal.Record, at uint64)) (at uint64, err error) {
	r := p.Journal.NewReader(from)
	defer r.Close()
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		case ctx.Err() != nil:
			return at, ctx.Err()
		case rec.Offset > until, rec.Offset == until && rec.Kind == journal.KindOutput:
			return at, nil
		}
		switch rec.Kind {
		case journal.KindOutput:
			rec.Data = rec.Data[:min(uint64(len(rec.Data)), until-rec.Offset)]
			_, _ = engine.Write(rec.Data) // never fails
			at = rec.Offset + uint64(len(rec.Data))
			each(&rec, at)
			engine.Replies(nil)
		case journal.KindMark:
			each(&rec, rec.Offset)
		case journal.KindGap:
			at = min(rec.Offset+rec.Lost, until)
		case journal.KindResize:
			if rec.Offset > from || rec.Time.After(p.restoredTime) { // the restored state includes older sizes; setting one again would lose content
				engine.Resize(rec.Cols, rec.Rows)
			}
			each(&rec, rec.Offset)
		}
	}
}
