//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm"
)

func viewerCommand(e *Program) *cobra.Command {
	var panes, keys int
	var span time.Duration
	c := &cobra.Command{
		Use: "viewer", Short: "Measure the viewer's frame times, idle CPU and key echo", Args: cobra.NoArgs,
		Long: "Show panes whose sessions print as fast as frames can follow, on a simulated terminal of 200×60, and measure\n" +
			"the drawing times. Then run the viewer on a terminal with as many idle sessions, and measure its CPU time and\n" +
			"the time from a key to its echo on the screen, compared with tmux if it is installed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			figures, err := viewerFloods(cmd.Context(), panes, span)
			if err != nil {
				return err
			}
			b, err := newSessionBench(e, keys, 0)
			if err != nil {
				return err
			}
			defer b.close()
			for _, f := range []func(context.Context) (figure, error){
				b.viewerEcho, func(ctx context.Context) (figure, error) { return b.viewerIdle(ctx, panes, span) },
			} {
				fig, err := f(cmd.Context())
				if err != nil {
					return err
				}
				figures = append(figures, fig)
			}
			return e.Print(figures, func(w io.Writer) { writeFigures(w, figures) })
		},
	}
	c.Flags().IntVar(&panes, "panes", 12, "panes")
	c.Flags().DurationVar(&span, "span", 5*time.Second, "duration of floods and of idle phases")
	c.Flags().IntVar(&keys, "keys", 300, "keys to measure")
	return e.JSONFlag(c)
}

// viewerFloods runs the viewer on a simulated terminal.
func viewerFloods(ctx context.Context, panes int, span time.Duration) ([]figure, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	screen := tcell.NewSimulationScreen("UTF-8")
	src := &floodSource{panes: panes}
	_, leave := viewsource.Tune()
	defer leave()
	var took []float64
	o := view.Options{Screen: sized{screen}, Drawn: func(d time.Duration) { took = append(took, float64(d.Microseconds())/1000) }}
	err := view.Run(ctx, src, o)
	src.streams.Wait()
	if err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, fmt.Errorf("nothing was drawn in %v", span)
	}
	note := fmt.Sprintf("%d panes, %.0f frames/s", panes, float64(len(took))/span.Seconds())
	return []figure{
		{Name: "frame under flood, p50", Unit: "ms", Runs: len(took), Longterm: median(took), Note: note},
		{Name: "frame under flood, p99", Unit: "ms", Runs: len(took), Longterm: percentile(took, 0.99), Note: note},
	}, nil
}

// sized is a simulated terminal of the measured size.
type sized struct{ tcell.SimulationScreen }

func (s sized) Init() error {
	if err := s.SimulationScreen.Init(); err != nil {
		return err
	}
	s.SetSize(200, 60)
	return nil
}

// floodSource provides sessions that print all the time.
type floodSource struct {
	panes   int
	streams sync.WaitGroup
}

func (f *floodSource) Sessions(ctx context.Context) <-chan model.Update {
	out := make(chan model.Update, 1)
	var list []model.Session
	for i := range f.panes {
		list = append(list, model.Session{ID: fmt.Sprint("flood", i), Name: fmt.Sprint("flood", i), State: model.StateRunning, Command: "flood", Started: time.Now()})
	}
	out <- model.Update{Sessions: list}
	context.AfterFunc(ctx, func() { close(out) })
	return out
}

func (f *floodSource) New(context.Context, string, string, string) (string, error) {
	return "", context.Canceled
}
func (f *floodSource) Kill(context.Context, string) error { return nil }

func (f *floodSource) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	ctx, cancel := context.WithCancel(ctx)
	s := &floodStream{frames: make(chan panes.Frame), stop: cancel}
	f.streams.Go(func() { s.run(ctx, id, cols, rows) })
	return s
}

// floodStream prints a few lines for each frame that the viewer fetches.
type floodStream struct {
	frames chan panes.Frame
	stop   context.CancelFunc
}

func (s *floodStream) Frames() <-chan panes.Frame   { return s.frames }
func (s *floodStream) SendInput(panes.Input) uint64 { return 0 }
func (s *floodStream) Resize(int, int)              {}
func (s *floodStream) Picture(string)               {}
func (s *floodStream) Close() int                   { s.stop(); return 0 }

// frameInterval is the daemon's shortest interval between frames.
const frameInterval = time.Second / 60

func (s *floodStream) run(ctx context.Context, id string, cols, rows int) {
	defer close(s.frames)
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	tick := time.NewTicker(frameInterval)
	defer tick.Stop()
	var f vterm.Frame
	since := uint64(0)
	for n := 0; ; n++ {
		for i := range rows {
			fmt.Fprintf(e, "\r\n\x1b[3%dm%s\x1b[m line %d of frame %d: \x1b[1mwarning\x1b[m something \x1b[4munderlined\x1b[m", i%8, id, i, n)
		}
		e.Frame(&f, vterm.Query{Since: since})
		since = f.Version
		screen := &render.Screen{}
		render.FromFrame(screen, &f)
		select {
		case s.frames <- panes.Frame{Screen: screen, Modes: e.Modes()}:
		case <-ctx.Done():
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// echoKeys are letters that occur in no control sequence of a drawing, so an echo is recognised by its letter.
const echoKeys = "QWXYZNU"

// viewerEcho measures the time from a key to its echo on the user's terminal.
func (b *sessionBench) viewerEcho(ctx context.Context) (figure, error) {
	fig := figure{Name: "key to screen, p50", Unit: "µs", Runs: b.runs}
	if _, err := b.echoSession(ctx); err != nil {
		return fig, err
	}
	ours, err := b.keysToScreen(ctx, []string{b.self, "view", "echo"})
	if err != nil {
		return fig, err
	}
	fig.Longterm, fig.Note = median(ours), fmt.Sprintf("p99 %.0f µs", percentile(ours, 0.99))
	for _, o := range b.others {
		theirs, err := b.keysToScreen(ctx, o.attach("echo"))
		if err != nil {
			return fig, err
		}
		fig.addOther(o.name(), median(theirs), median(ours)/median(theirs))
		fig.Note += fmt.Sprintf(", %s %.0f µs", o.name(), percentile(theirs, 0.99))
	}
	return fig, nil
}

// keysToScreen types keys into the viewer and returns the delays of their echoes.
func (b *sessionBench) keysToScreen(ctx context.Context, argv []string) ([]float64, error) {
	c, err := b.client(ctx, argv[0], argv[1:]...)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.readUntil("READY>"); err != nil {
		return nil, err
	}
	var out []float64
	for i := range b.runs {
		key := echoKeys[i%len(echoKeys) : i%len(echoKeys)+1]
		begin := time.Now()
		if _, err := c.tty.WriteString(key); err != nil {
			return nil, err
		}
		if err := c.readUntil(key); err != nil {
			return nil, err
		}
		out = append(out, float64(time.Since(begin).Nanoseconds())/1000)
		time.Sleep(keyGap(i))
	}
	return out, nil
}

// keyGap returns the pause after the key with this number: as long as a fast typist's, and never twice the same, so
// that keys do not coincide with a program's timers.
func keyGap(key int) time.Duration {
	return 15*time.Millisecond + time.Duration(key*17%46)*time.Millisecond
}

// viewerIdle measures the CPU time of a viewer whose sessions do nothing, in percent.
func (b *sessionBench) viewerIdle(ctx context.Context, panes int, span time.Duration) (figure, error) {
	fig := figure{Name: "idle CPU", Unit: "%", Runs: 1, Note: fmt.Sprintf("%d panes", panes)}
	for i := range panes {
		if _, err := b.lt(ctx, "new", "-n", fmt.Sprint("idle", i), "--", "sh", "-c", "echo READY; exec sleep 100000"); err != nil {
			return fig, err
		}
	}
	c, err := b.client(ctx, b.self, "view")
	if err != nil {
		return fig, err
	}
	defer c.close()
	if err := c.readUntil("READY"); err != nil {
		return fig, err
	}
	drained := make(chan struct{})
	go func() { // what it draws must not hold it up; ends with the terminal
		defer close(drained)
		_, _ = io.Copy(io.Discard, c.tty)
	}()
	time.Sleep(time.Second)
	before, err := cpuTime(c.cmd.Process.Pid)
	if err != nil {
		fig.Note = "not measured: " + err.Error()
		return fig, nil
	}
	time.Sleep(span)
	after, err := cpuTime(c.cmd.Process.Pid)
	fig.Longterm = float64(after-before) / float64(span) * 100
	return fig, err
}
