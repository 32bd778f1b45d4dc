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

// curve is how a cost grows with the number of something.
type curve struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Of     string       `json:"of"` // what there are so many of
	Points []curvePoint `json:"points"`
	// Bend is the first number with which it costs more than twice what it costs with the first; 0: none.
	Bend int `json:"bend,omitempty"`
	// Broke is how many there were when there could be no more, and Why is what was said. Empty: as many as were asked for.
	Broke int    `json:"broke,omitempty"`
	Why   string `json:"why,omitempty"`
}

// curvePoint is the cost, at the median and in the worst hundredth, with so many.
type curvePoint struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99,omitempty"`
}

// scaleBench measures curves. Each is there from its first point on.
type scaleBench struct {
	*sessionBench
	c      *client.Client
	echo   string // the session that echoes
	most   int    // idle sessions
	eachMB int    // that each of them has printed
	curves []*curve
}

// scaleLimits are the last points, and what each of the sessions has printed.
type scaleLimits struct{ sessions, historyMB, watchers, eachMB int }

func scaleCommand(e *Program) *cobra.Command {
	var runs int
	var most scaleLimits
	c := &cobra.Command{
		Use: "scale", Short: "Measure how costs grow with sessions, history and watchers", Args: cobra.NoArgs,
		Long: "Measure, in an instance of its own, what a screen, a list, a key's echo and memory cost beside ever more idle\n" +
			"sessions; what they cost beside a session that prints ever more, while it prints and afterwards; and what a key's\n" +
			"echo costs with ever more clients attached. A curve bends where it costs more than twice what it cost at first, and ends\n" +
			"where there can be no more sessions.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 || min(most.sessions, most.historyMB, most.watchers) < 1 || most.eachMB < 0 {
				return errors.New("--runs, --sessions, --history and --watchers are at least 1, --each is 0 or more")
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
	c.Flags().IntVar(&most.sessions, "sessions", 1000, "idle sessions at most")
	c.Flags().IntVar(&most.eachMB, "each", 0, "output that each of the idle sessions has printed, MiB")
	c.Flags().IntVar(&most.historyMB, "history", 100, "output of a session at most, MiB")
	c.Flags().IntVar(&most.watchers, "watchers", 50, "attached clients at most")
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

// steps are the points up to a number: 1, 10, 100 … and the number itself.
func steps(most int) (all []int) {
	for n := 1; n < most; n *= 10 {
		all = append(all, n)
	}
	return append(all, most)
}

// curve is the one of a name, from now on.
func (s *scaleBench) curve(name, unit, of string) *curve {
	for _, c := range s.curves {
		if c.Name == name {
			return c
		}
	}
	c := &curve{Name: name, Unit: unit, Of: of}
	s.curves = append(s.curves, c)
	return c
}

// add adds a point to a curve.
func (s *scaleBench) add(name, unit, of string, n int, costs ...float64) {
	c := s.curve(name, unit, of)
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
	if err := s.along(ctx, most.sessions, s.crowd); err != nil {
		return err
	}
	if err := s.endOfAll(ctx); err != nil {
		return err
	}
	if err := s.along(ctx, most.watchers, s.watched); err != nil {
		return err
	}
	return s.along(ctx, most.historyMB, s.printed)
}

// along measures at the points up to a number, beside a session that echoes.
func (s *scaleBench) along(ctx context.Context, most int, measure func(context.Context, int) error) error {
	s.echo += "echo" // another one each time
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

// times is how long each run of f takes, in milliseconds.
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
	if err := drawn(st, "READY>"); err != nil {
		return nil, err
	}
	for i := 0; !enough(i); i++ {
		key := []byte{byte('a' + i%26)}
		begin := time.Now()
		if err := st.Type(key); err != nil {
			return nil, err
		}
		if err := drawn(st, string(key)); err != nil {
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

// clearEcho has what was echoed go from the screen, for whoever attaches next.
func clearEcho(st *client.Stream) error {
	if err := st.Type([]byte("\x1b[2J\x1b[HREADY>")); err != nil {
		return err
	}
	return drawn(st, "READY>")
}

// drawn reads until a text was drawn.
func drawn(st *client.Stream, text string) error {
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

// some is enough keys for a worst hundredth.
func (s *scaleBench) some(n int) bool { return n >= 4*s.runs }

// watched measures with n clients attached to the session that echoes.
func (s *scaleBench) watched(ctx context.Context, n int) error {
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
	us, err := s.echoes(ctx, s.some)
	if err != nil {
		return err
	}
	s.add("key to echo, watched", "µs", "attached clients", n, us...)
	return nil
}

// printed measures beside a session that prints n MiB, and afterwards.
func (s *scaleBench) printed(ctx context.Context, n int) error {
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
	if us, err = s.echoes(ctx, s.some); err != nil {
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
	return s.pruned(ctx, n, of)
}

// pruned measures while the most of what was printed, which is packed to about a tenth, is removed from the histories.
func (s *scaleBench) pruned(ctx context.Context, n int, of string) error {
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
		return over == nil && s.some(n)
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	s.add("key to echo, while most of it is removed", "µs", of, n, us...)
	return nil
}
