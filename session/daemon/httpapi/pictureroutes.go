//go:build unix

package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// pictureQuery asks for a screen in a format other than JSON.
type pictureQuery struct {
	ScreenQuery
	Format   string  `path:"format" enum:"text,ansi,html,svg,png,md,gemini"`
	Theme    string  `query:"theme" doc:"colours of a picture: dark, light, high-contrast, session, or a usual theme, as dracula"`
	Scale    float64 `query:"scale" minimum:"0" maximum:"8" doc:"size of a picture; 1 is a font of 16 pixels"`
	Padding  int     `query:"padding" minimum:"-1" maximum:"500" doc:"space around a picture in pixels at scale 1; default 8, -1 is none"`
	NoCursor bool    `query:"no_cursor" doc:"leave the cursor out"`
	Cursor   string  `query:"cursor" enum:"block,underline,bar" doc:"shape of the cursor; default: as the program set it"`
	Fonts    string  `query:"fonts" enum:"system,embedded" doc:"PNG: whether fonts of the machine help out"`
	Styles   bool    `query:"styles" doc:"Markdown: list what stands out by its looks"`

	MaxOutput int `query:"max_output" minimum:"-1" maximum:"16777216" doc:"text, ansi, md: bytes, head and tail; default 4096; -1: all"`
}

// screenBudget is how much text of a screen is handed out unless more is asked for.
const screenBudget = 4 << 10

// within brings a screen in a format of text down to what was asked for.
func (in *pictureQuery) within(b []byte, id string) []byte {
	limit := cmp.Or(in.MaxOutput, screenBudget)
	switch in.Format {
	case "text", "ansi", "md":
	default:
		return b
	}
	if limit < 0 || len(b) <= limit {
		return b
	}
	budget := budget.Budget{Max: limit, ANSI: in.Format == "ansi"}
	budget.More = func(_, _ uint64) string {
		more := "longterm screen " + api.ShortID(id)
		if in.Format != "text" {
			more += " --format " + in.Format
		}
		if in.Scrollback != "" {
			more += " --scrollback=" + in.Scrollback
		}
		return more
	}
	for line := range bytes.Lines(b) {
		text, ends := bytes.CutSuffix(line, []byte{'\n'})
		budget.Add(text, 0, uint64(len(line)), !ends)
	}
	text, _ := budget.Finish()
	return []byte(text)
}

// picture is a screen in a format other than JSON. Pages and SVGs may be opened as
// documents: they are made without anything that runs, and the policy says so again.
type picture struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Sniffing    string `header:"X-Content-Type-Options"`
	Body        []byte
}

const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

// painting bounds how many pictures are made at a time: one may take 128 MiB.
var painting = make(chan struct{}, 2)

func (s *Server) getPicture(ctx context.Context, in *pictureQuery) (*picture, error) {
	body, err := s.screenAs(ctx, in)
	if err != nil {
		return nil, err
	}
	if actor.Of(ctx).IsAgent() {
		switch in.Format {
		case "png":
		case "html", "svg":
			body = []byte(plaintext.VisibleMarkup(string(body)))
		default:
			body = []byte(plaintext.Visible(string(body)))
		}
	}
	return &picture{format.MediaType(in.Format), picturePolicy, "nosniff", body}, nil
}

func (s *Server) screenAs(ctx context.Context, in *pictureQuery) ([]byte, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "screen"); err != nil {
		return nil, err
	}
	if _, err := render.ThemeFor(in.Theme, nil); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if format.Whole(in.Format) {
		in.Since = 0
	}
	o := format.Options{
		Theme: in.Theme, Scale: in.Scale, Padding: in.Padding, NoCursor: in.NoCursor, CursorShape: in.Cursor, Fonts: in.Fonts, Styles: in.Styles,
		State: stateWords(e.Session.Status()), NoColor: in.NoColor, Trim: in.Trim,
	}
	var frame *vterm.Frame
	var lines []vterm.Line
	err = s.look(ctx, e, &in.ScreenQuery, func(f *vterm.Frame, history []vterm.Line, m vterm.Modes) {
		frame, lines, o.Reversed = f, history, m.ReverseVideo
	})
	if err != nil {
		return nil, err
	}
	select {
	case painting <- struct{}{}:
		defer func() { <-painting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b, err := format.Append(nil, in.Format, frame, lines, o)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	return in.within(b, e.ID()), nil
}

// stateWords is a session's state as a reader puts it.
func stateWords(st session.Status) string {
	switch {
	case st.Exit == nil || st.State != session.Exited:
		return string(st.State)
	case st.Exit.Signal != "":
		return "ended by signal " + st.Exit.Signal
	}
	return fmt.Sprintf("exited with status %d", st.Exit.Code)
}

// stills makes blocks of the images of screens that are asked for once. Who leafs through a history asks for the same images
// again, so the blocks are kept, for all requests.
type stills struct {
	turn   chan struct{} // taken by who uses blocks
	blocks render.Blocks
}

// maxStills bounds the time that a request spends on images. What has no blocks then has them when it is asked for again.
const maxStills = 500 * time.Millisecond

// show puts blocks in the place of a screen's images.
func (b *stills) show(ctx context.Context, s *render.Screen, pictures bool) {
	if !s.HasImages() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxStills)
	defer cancel()
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		(&render.Blocks{Pictures: pictures}).Show(ctx, s) // which images there are costs little
		return
	}
	b.blocks.Pictures = pictures
	b.blocks.Show(ctx, s)
}
