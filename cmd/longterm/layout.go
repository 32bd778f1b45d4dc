//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
)

// lastLayout is the name under which a viewer saves its current layout.
const lastLayout = "last"

func layoutVerb(a *app, c *cobra.Command) {
	c.Long = `Arrange sessions in open viewers, and manage saved layouts. The focus of a viewer stays where it is, except with
focus. Viewers save their current layout under the name "last".

  longterm layout place build --beside work
  longterm layout dump > my.json
  longterm layout apply --file my.json

If no viewer is open or none can apply the change, place, focus, close and apply print the reason and exit with
status 3. split starts its session in any case.`
	c.AddCommand(layoutLs(a), layoutDump(a), layoutApply(a), layoutRm(a), layoutPlace(a), layoutSplit(a),
		layoutDo(a, "focus", "Move the focus to a session's pane"), layoutDo(a, "close", "Close a session's panes and keep it running"))
}

// errNoViewer is the error of a change that no viewer could apply.
var errNoViewer = api.Errorf(api.CodeNotFound, "not changed: no viewer is open").
	WithHint("open one with `longterm`, or with `longterm view --layout NAME` for a saved layout")

// arrange sends a change to the open viewers. It returns errNoViewer without one.
func (a *app) arrange(cmd *cobra.Command, order api.Arrange) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	sent, err := b.client.Arrange(cmd.Context(), order)
	if err == nil && !sent {
		return errNoViewer
	}
	return err
}

func layoutDo(a *app, do, short string) *cobra.Command {
	return a.Done(&cobra.Command{Use: do + " S", Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		return a.arrange(cmd, api.Arrange{Do: do, Session: args[0]})
	}})
}

// placeFlags holds the flags that choose a pane's position.
type placeFlags struct {
	beside, tab            string
	below                  bool
	float, pinned, stacked bool
	area                   string
}

// longestTab is the limit of api.Arrange, in characters.
const longestTab = 128

// request returns the change that the flags describe.
func (p *placeFlags) request(session, beside string) (api.Arrange, error) {
	r := api.Arrange{Do: "place", Session: session, Beside: beside, Below: p.below, Tab: p.tab, Float: p.float, Pinned: p.pinned, Stacked: p.stacked}
	if utf8.RuneCountInString(p.tab) > longestTab {
		return r, exit.Usagef("--tab: a tab's name has at most %d characters", longestTab)
	}
	if p.area == "" {
		return r, nil
	}
	if !p.pinned {
		r.Float = true
	}
	var a api.Area
	if n, err := fmt.Sscanf(p.area, "%dx%d+%d+%d", &a.W, &a.H, &a.X, &a.Y); err != nil || n != 4 || p.area != fmt.Sprintf("%dx%d+%d+%d", a.W, a.H, a.X, a.Y) {
		return r, exit.Usagef("--area %q: not WIDTHxHEIGHT+LEFT+TOP in per cent, such as 60x50+20+10", p.area)
	}
	if a.W < 1 || a.H < 1 || max(a.W, a.H, a.X, a.Y) > 100 || min(a.X, a.Y) < 0 {
		return r, exit.Usagef("--area %s: out of range (width and height 1 to 100 per cent, left and top 0 to 100)", p.area)
	}
	r.Area = &a
	return r, nil
}

func (p *placeFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&p.below, "below", false, "below the other pane (default: to its right)")
	c.Flags().BoolVar(&p.float, "float", false, "floating pane of the tab")
	c.Flags().BoolVar(&p.pinned, "pinned", false, "floating pane over all tabs")
	c.Flags().BoolVar(&p.stacked, "stacked", false, "stack with the other pane, of which one is open")
	c.Flags().StringVar(&p.area, "area", "", "position of a floating pane, `WIDTHxHEIGHT+LEFT+TOP` in per cent, such as 60x50+20+10 (default: centered)")
	c.MarkFlagsMutuallyExclusive("float", "pinned", "stacked")
	c.MarkFlagsMutuallyExclusive("area", "stacked")
	c.Flags().StringVar(&p.tab, "tab", "", "`NAME` of the tab, created if it does not exist (default: the other pane's tab)")
}

func layoutPlace(a *app) *cobra.Command {
	var p placeFlags
	c := a.Done(&cobra.Command{Use: "place S", Short: "Show a session in a pane", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		r, err := p.request(args[0], p.beside)
		if err != nil {
			return err
		}
		return a.arrange(cmd, r)
	}})
	c.Flags().StringVar(&p.beside, "beside", "", "`SESSION` whose pane is split, or in whose tab the new pane floats (default: the focused one)")
	p.register(c)
	return c
}

func layoutSplit(a *app) *cobra.Command {
	var p placeFlags
	var start request.StartFlags
	c := a.JSONFlag(&cobra.Command{
		Use: "split S [flags] [-- CMD…]", Short: "Start a session beside S, in S's directory", Args: cobra.MinimumNArgs(1),
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := p.request("", ""); err != nil {
			return err
		}
		n, err := start.Request(cmd, args[1:])
		if err != nil {
			return err
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		beside, err := b.client.Session(args[0]).Info(cmd.Context())
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("cwd") {
			n.Cwd = beside.Cwd
		}
		s, err := b.client.NewSession(cmd.Context(), n)
		if err != nil {
			return exit.FromPolicy(err)
		}
		r, _ := p.request(s.ID, beside.ID) // validated at the start of RunE
		switch err := a.arrange(cmd, r); {
		case errors.Is(err, errNoViewer):
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: started, but not shown (no viewer is open)\n", s.Name)
		case err != nil:
			return fmt.Errorf("%s: started, but not shown: %w", s.Name, err)
		}
		return a.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
	}
	start.Register(c)
	p.register(c)
	c.Flags().SetInterspersed(true)
	return c
}

func layoutLs(a *app) *cobra.Command {
	c := a.JSONFlag(&cobra.Command{Use: "ls", Short: "List saved layouts", Args: cobra.NoArgs})
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		names, err := viewsource.LayoutNames(cmd.Context(), b.dirs)
		if err != nil {
			return err
		}
		slices.Sort(names)
		if names == nil {
			names = []string{}
		}
		return a.Print(names, func(w io.Writer) {
			for _, n := range names {
				fmt.Fprintln(w, n)
			}
		})
	}
	return c
}

// keptLayout returns the saved layout with this name.
func (a *app) keptLayout(cmd *cobra.Command, name string) ([]byte, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	text, err := viewsource.LoadLayout(cmd.Context(), b.dirs, name)
	if err == nil && text == nil {
		err = api.Errorf(api.CodeNotFound, "layout %q not found", name).WithHint("see `longterm layout ls`")
	}
	return text, err
}

func layoutDump(a *app) *cobra.Command {
	c := a.JSONFlag(&cobra.Command{
		Use: "dump [NAME]", Short: "Print a layout as JSON", Args: cobra.MaximumNArgs(1),
		Long: "Print a saved layout as JSON, or without NAME the current (or last) layout of the viewer.\n\n" +
			"  longterm layout dump > my.json",
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.keptLayout(cmd, append(args, lastLayout)[0])
		if err != nil {
			return err
		}
		return a.Print(json.RawMessage(text), func(w io.Writer) { fmt.Fprintf(w, "%s\n", bytes.TrimSpace(text)) })
	}
	return c
}

func layoutApply(a *app) *cobra.Command {
	var file string
	c := a.Done(&cobra.Command{
		Use: "apply (NAME | --file FILE)", Short: "Apply a layout to open viewers", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (file != "") {
				return exit.Usagef("one layout required: NAME, or --file with the output of `longterm layout dump`")
			}
			var text []byte
			var err error
			if file != "" {
				text, err = a.input().Read([]string{file})
			} else {
				text, err = a.keptLayout(cmd, args[0])
			}
			if err != nil {
				return err
			}
			if err := a.applicable(cmd.Context(), text); err != nil {
				return err
			}
			return a.arrange(cmd, api.Arrange{Do: "apply", Layout: text})
		},
	})
	c.Flags().StringVarP(&file, "file", "f", "", "`FILE` with a layout, - for standard input")
	return c
}

// applicable returns an error for a layout that viewers would ignore: an invalid or empty one, or one without existing
// sessions.
func (a *app) applicable(ctx context.Context, text []byte) error {
	l, err := model.ParseLayout(text)
	if err != nil {
		return exit.Usage(err)
	}
	if l.Empty() {
		return exit.Usagef("layout shows no session: it needs a tab with a tree of sessions, or with \"auto\": true; see `longterm layout dump`")
	}
	for _, name := range l.Names {
		if strings.Contains(name, "/") { // sessions of other hosts, which a viewer may show
			return nil
		}
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	list, err := b.client.List(ctx)
	if err != nil {
		return err
	}
	sessions := make([]model.Session, len(list))
	for i := range list {
		sessions[i] = model.Session{ID: list[i].ID, Name: list[i].Name, State: list[i].State}
	}
	if !l.Shows(sessions) {
		return api.Errorf(api.CodeNotFound, "none of the layout's sessions exists").WithHint("see `longterm ls`")
	}
	return nil
}

func layoutRm(a *app) *cobra.Command {
	return a.Done(&cobra.Command{Use: "rm NAME", Short: "Remove a saved layout", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		was, err := viewsource.RemoveLayout(b.dirs, args[0])
		if err == nil && !was {
			err = api.Errorf(api.CodeNotFound, "layout %q not found", args[0]).WithHint("see `longterm layout ls`")
		}
		return err
	}})
}
