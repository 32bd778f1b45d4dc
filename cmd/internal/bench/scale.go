//go:build unix

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// curve describes how a cost grows with a number.
type curve struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Of     string       `json:"of"` // what the number counts
	Points []curvePoint `json:"points"`
	// Bend is the first number at which the cost exceeds twice that of the first point; 0: none.
	Bend int `json:"bend,omitempty"`
	// Broke is the number at which no more could be started, and Why the error. Both are unset if all were.
	Broke int    `json:"broke,omitempty"`
	Why   string `json:"why,omitempty"`
}

// curvePoint is the cost at one number: median and 99th percentile.
type curvePoint struct {
	N   int     `json:"n"` // the number
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99,omitempty"`
}

// scaleBench measures curves. A curve is created with its first point.
type scaleBench struct {
	*sessionBench
	c      *client.Client
	echo   string // session that echoes input
	most   int    // number of idle sessions
	eachMB int    // output that each idle session has printed, MiB
	curves []*curve
}

// scaleLimits holds the largest numbers to measure, and the output per session.
type scaleLimits struct{ sessions, historyMB, watchers, eachMB int }

func scaleCommand(e *Program) *cobra.Command {
	var runs int
	var most scaleLimits
	c := &cobra.Command{
		Use: "scale", Short: "Measure how costs grow with sessions, history and watchers", Args: cobra.NoArgs,
		Long: "Measure, in a separate instance, the costs of a screen, a list, a key's echo and memory with a growing number of idle\n" +
			"sessions; with a growing history of one session, while it prints and afterwards; and of a key's echo with a growing\n" +
			"number of clients. A curve bends where the cost is more than twice the first, and ends where no more sessions can be\n" +
			"started.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || min(most.sessions, most.historyMB, most.watchers) < 1 || most.eachMB < 0 {
				return errors.New("--runs, --sessions, --history and --watchers must be at least 1, --each must not be negative")
			}
			b, err := newSessionBench(e, runs, 0)
			if err != nil {
				return err
			}
			defer b.close()
			s := &scaleBench{sessionBench: b, c: b.api(), most: most.sessions, eachMB: most.eachMB}
			defer s.c.Close()
			err = s.run(cmd.Context(), most)
			if len(s.curves) > 0 { // hours may have gone by until it failed or was ended
				err = errors.Join(err, e.Print(s.curves, func(w io.Writer) { writeCurves(w, s.curves) }))
			}
			return err
		},
	}
	c.Flags().IntVar(&runs, "runs", 50, "runs of each measurement at each point")
	c.Flags().IntVar(&most.sessions, "sessions", 1000, "maximum `NUMBER` of idle sessions")
	c.Flags().IntVar(&most.eachMB, "each", 0, "output of each idle session in MiB")
	c.Flags().IntVar(&most.historyMB, "history", 100, "maximum output of a session in MiB")
	c.Flags().IntVar(&most.watchers, "watchers", 50, "maximum `NUMBER` of attached clients")
	return e.JSONFlag(c)
}

func writeCurves(w io.Writer, curves []*curve) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range curves {
		bend := "does not bend"
		if c.Bend > 0 {
			bend = "bends at " + strconv.Itoa(c.Bend)
		}
		if c.Why != "" {
			bend += ", ends at " + strconv.Itoa(c.Broke)
		}
		fmt.Fprintf(tw, "%s, %s\t%s\tp50\tp99\n", c.Name, c.Unit, bend)
		for _, p := range c.Points {
			p99 := "-"
			if p.P99 > 0 {
				p99 = fmt.Sprintf("%.2f", p.P99)
			}
			fmt.Fprintf(tw, "\t%d %s\t%.2f\t%s\n", p.N, c.Of, p.P50, p99)
		}
		if c.Why != "" {
			fmt.Fprintf(tw, "\tmore: %s\n", c.Why)
		}
	}
	_ = tw.Flush()
}

// steps returns the numbers to measure up to most: 1, 10, 100 … and most.
func steps(most int) (all []int) {
	for n := 1; n < most; n *= 10 {
		all = append(all, n)
	}
	return append(all, most)
}

// curve returns the curve of a name, which it adds if needed.
func (s *scaleBench) curve(name, unit, unitName string) *curve {
	for _, c := range s.curves {
		if c.Name == name {
			return c
		}
	}
	c := &curve{Name: name, Unit: unit, Of: unitName}
	s.curves = append(s.curves, c)
	return c
}

// add adds a point to a curve.
func (s *scaleBench) add(name, unit, unitName string, n int, costs ...float64) {
	c := s.curve(name, unit, unitName)
	p := curvePoint{N: n, P50: median(costs)}
	if len(costs) > 1 {
		p.P99 = percentile(costs, 0.99)
	}
	if c.Points = append(c.Points, p); c.Bend == 0 && p.P50 > 2*c.Points[0].P50 {
		c.Bend = n
	}
}

func (s *scaleBench) run(ctx context.Context, most scaleLimits) error {
	// Three are those that echo, and one prints at each point.
	limit := most.sessions + 3 + len(steps(most.historyMB))
	if _, err := s.lt(ctx, "config", "set", "limits.sessions", strconv.Itoa(limit)); err != nil {
		return err
	}
	// The crowd comes first: what a flood leaves in the heap would be used again by idle sessions.
	if err := s.measurePoints(ctx, most.sessions, s.crowd); err != nil {
		return err
	}
	if err := s.endAll(ctx); err != nil {
		return err
	}
	if err := s.measurePoints(ctx, most.watchers, s.measureWatched); err != nil {
		return err
	}
	return s.measurePoints(ctx, most.historyMB, s.measurePrinted)
}

// measurePoints calls measure at each number up to most, while a session that echoes runs.
func (s *scaleBench) measurePoints(ctx context.Context, most int, measure func(context.Context, int) error) error {
	s.echo += "echo" // a different one each time
	if _, err := s.lt(ctx, "new", "-n", s.echo, "--", "sh", "-c", echoScript); err != nil {
		return err
	}
	if _, err := s.lt(ctx, "wait", s.echo, "--for", "text=READY>", "--since", "0", "--timeout", "10s"); err != nil {
		return err
	}
	for _, n := range steps(most) {
		if err := measure(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func sinceMS(begin time.Time) float64 { return float64(time.Since(begin).Microseconds()) / 1000 }

// times returns how long each run of f takes, in milliseconds.
func (s *scaleBench) times(f func() error) (all []float64, err error) {
	for range s.runs {
		begin := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		all = append(all, sinceMS(begin))
	}
	return all, nil
}

// echoes types keys into the session that echoes until enough is true, and returns how long each echo took, in
// microseconds.
func (s *scaleBench) echoes(ctx context.Context, enough func(n int) bool) (all []float64, err error) {
	st, err := s.c.Session(s.echo).Attach(ctx, client.StreamOptions{})
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := awaitText(st, "READY>"); err != nil {
		return nil, err
	}
	for i := 0; !enough(i); i++ {
		key := []byte{byte('a' + i%26)}
		begin := time.Now()
		if err := st.Type(key); err != nil {
			return nil, err
		}
		if err := awaitText(st, string(key)); err != nil {
			return nil, err
		}
		all = append(all, float64(time.Since(begin).Nanoseconds())/1000)
		if i%26 == 25 { // a drawing of the whole screen has all that was echoed before
			if err := clearEcho(st); err != nil {
				return nil, err
			}
		}
	}
	return all, clearEcho(st)
}

// clearEcho clears the echoed text from the screen, for the next client.
func clearEcho(st *client.Stream) error {
	if err := st.Type([]byte("\x1b[2J\x1b[HREADY>")); err != nil {
		return err
	}
	return awaitText(st, "READY>")
}

// awaitText reads from a stream until it has drawn text.
func awaitText(st *client.Stream, text string) error {
	var seen []byte
	for !bytes.Contains(seen, []byte(text)) {
		p, _, err := st.Read()
		if err != nil {
			return fmt.Errorf("the stream ended before %q was drawn: %w", text, err)
		}
		seen = append(seen, p...)
	}
	return nil
}

// isEnough reports whether n keys are enough for a 99th percentile.
func (s *scaleBench) isEnough(n int) bool { return n >= 4*s.runs }

// measureWatched measures with n clients attached to the session that echoes.
func (s *scaleBench) measureWatched(ctx context.Context, n int) error {
	for range n - 1 {
		st, err := s.c.Session(s.echo).Attach(ctx, client.StreamOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			for {
				if _, _, err := st.Read(); err != nil {
					return
				}
			}
		}()
		defer func() {
			_ = st.Close()
			<-over
		}()
	}
	us, err := s.echoes(ctx, s.isEnough)
	if err != nil {
		return err
	}
	s.add("key to echo, watched", "µs", "attached clients", n, us...)
	return nil
}

// measurePrinted measures beside a session that prints n MiB, and afterwards.
func (s *scaleBench) measurePrinted(ctx context.Context, n int) error {
	const of = "MiB printed"
	log := filepath.Join(s.dir, "mib")
	if err := os.WriteFile(log, colouredLog(1<<20), 0o600); err != nil {
		return err
	}
	name := fmt.Sprint("printed", n)
	begin := time.Now()
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do cat '%s'; i=$((i+1)); done; echo; echo DONE; exec sleep 100000`, n, log)
	if _, err := s.c.NewSession(ctx, api.NewSession{Name: name, Argv: []string{"sh", "-c", script}}); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() {
		_, err := s.lt(ctx, "wait", name, "--for", "text=DONE", "--since", "0", "--timeout", "1h")
		over <- err
	}()
	var took time.Duration
	var failed error
	us, err := s.echoes(ctx, func(n int) bool {
		select {
		case failed = <-over:
			took, over = time.Since(begin), nil
		default:
		}
		return over == nil && n > 0
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	s.add("key to echo, beside a flood", "µs", of, n, us...)
	s.add("a MiB taken", "ms", of, n, float64(took.Milliseconds())/float64(n))
	if us, err = s.echoes(ctx, s.isEnough); err != nil {
		return err
	}
	s.add("key to echo, after a flood", "µs", of, n, us...)
	sess := s.c.Session(name)
	ms, err := s.times(func() error { _, err := sess.ScreenAs(ctx, client.ScreenQuery{}, "text"); return err })
	if err != nil {
		return err
	}
	s.add("its screen", "ms", of, n, ms...)
	past := client.ScreenQuery{At: strconv.Itoa(n << 19)}
	if ms, err = s.times(func() error { _, err := sess.ScreenAs(ctx, past, "text"); return err }); err != nil {
		return err
	}
	s.add("its screen at half of the output", "ms", of, n, ms...)
	return s.measurePruned(ctx, n, of)
}

// measurePruned measures while histories are pruned to about a tenth of their output.
func (s *scaleBench) measurePruned(ctx context.Context, n int, unitName string) error {
	over := make(chan error, 1)
	go func() {
		_, err := s.lt(ctx, "prune", "--session", fmt.Sprint(n<<10/40, "KiB"))
		over <- err
	}()
	var failed error
	us, err := s.echoes(ctx, func(n int) bool {
		select {
		case failed = <-over:
			over = nil
		default:
		}
		return over == nil && s.isEnough(n)
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	s.add("key to echo, while most of it is removed", "µs", unitName, n, us...)
	return nil
}
