package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// docsBench is what `bench docs` is told.
type docsBench struct {
	only []string
	// run is what a bench prints, given its name and arguments.
	run func(ctx context.Context, args []string) ([]byte, error)
	// where says when and on what machine that is.
	where func() string
}

func docsCommand(e *Program) *cobra.Command {
	d := docsBench{run: runSelf, where: func() string { return machineOf(e.Version(), time.Now()) }}
	c := &cobra.Command{
		Use: "docs FILE", Short: "Measure what a page shows, and write the figures into it", Args: cobra.ExactArgs(1),
		Long: "Run the benches that a page of Markdown shows, one after the other, and put what they print in the place of what it\n" +
			"showed. A bench is a block ```console that begins with `$ longterm bench …`; what stands around it is left as it is.\n" +
			"Each is written when it is done; one that fails leaves what was there.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := d.page(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := e.Print(r, r.write); err != nil || len(r.Failed) == 0 {
				return err
			}
			return exit.With(api.ExitFailure, fmt.Errorf("%d of %d benches failed; what the page showed of them stays", len(r.Failed), len(r.Failed)+len(r.Measured)))
		},
	}
	c.Flags().StringSliceVar(&d.only, "only", nil, "measure these benches only: sessions, emulator, …")
	return e.JSONFlag(c)
}

// docsReport is what `bench docs` did.
type docsReport struct {
	Page     string   `json:"page"`
	Measured []string `json:"measured"`
	Failed   []string `json:"failed"`
}

func (r *docsReport) write(w io.Writer) {
	for _, command := range r.Measured {
		fmt.Fprintf(w, "measured  %s\n", command)
	}
	for _, command := range r.Failed {
		fmt.Fprintf(w, "failed    %s\n", command)
	}
}

// page measures what a file shows, and tells of each bench as it begins.
func (d *docsBench) page(ctx context.Context, path string, progress io.Writer) (*docsReport, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.Usage(err)
	}
	shown := shownBenches(page)
	if len(shown) == 0 {
		return nil, exit.Usagef("%s shows no bench: a block ```console whose first line is `$ longterm bench NAME`", path)
	}
	for _, name := range d.only {
		if !slices.ContainsFunc(shown, func(s shownBench) bool { return s.args[0] == name }) {
			return nil, exit.Usagef("%s shows no `longterm bench %s`", path, name)
		}
	}
	r := &docsReport{Page: path, Measured: []string{}, Failed: []string{}}
	for i := range shown {
		s := &shown[i]
		if len(d.only) > 0 && !slices.Contains(d.only, s.args[0]) {
			continue
		}
		where := d.where() // before the bench is load of its own
		fmt.Fprintln(progress, s.command)
		printed, err := d.run(ctx, s.args)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(progress, "%s: %v\n", s.command, err)
			r.Failed = append(r.Failed, s.command)
			continue
		}
		if err := writeShown(path, s, where, printed); err != nil {
			return nil, err
		}
		r.Measured = append(r.Measured, s.command)
	}
	return r, nil
}

// writeShown puts what a bench printed into the page as it stands by now, which may have been edited meanwhile.
func writeShown(path string, s *shownBench, where string, printed []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	now := shownBenches(page)
	i := slices.IndexFunc(now, func(n shownBench) bool { return n.command == s.command })
	if i < 0 {
		return fmt.Errorf("%s shows `%s` no more, whose figures were:\n%s", path, s.command, printed)
	}
	block := fmt.Sprintf("$ %s\n# %s\n%s", s.command, where, trimmed(printed))
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return atomicfile.Write(path, atomicfile.Options{Mode: info.Mode().Perm()}, page[:now[i].from], []byte(block), page[now[i].to:])
}

// trimmed is what is printed without blanks at the ends of lines, in whole lines.
func trimmed(printed []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(bytes.TrimRight(printed, " \t\r\n")) {
		b.Write(bytes.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// shownBench is a bench that a page shows.
type shownBench struct {
	command  string   // longterm bench sessions --runs 30
	args     []string // sessions --runs 30
	from, to int      // bytes of the page between the fences
}

// shownBenches are the benches of a page, in their order.
func shownBenches(page []byte) []shownBench {
	block := regexp.MustCompile("(?ms)^```console\r?\n(\\$ (longterm bench [a-z][^\r\n]*?)[ \t]*\r?\n.*?)^```[ \t]*\r?$")
	var all []shownBench
	for _, m := range block.FindAllSubmatchIndex(page, -1) {
		command := string(page[m[4]:m[5]])
		all = append(all, shownBench{command: command, args: strings.Fields(command)[2:], from: m[2], to: m[3]})
	}
	return all
}

// runSelf runs a bench of this executable.
func runSelf(ctx context.Context, args []string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// machineOf is what figures depend on.
func machineOf(version string, now time.Time) string {
	return fmt.Sprintf("%s, %s, %s/%s, %d processors, load %.1f when it began",
		now.Format(time.DateOnly), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), sys.LookAtMachine().Load)
}
