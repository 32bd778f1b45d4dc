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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// pictureQuery selects a screen in a format other than JSON.
type pictureQuery struct {
	ScreenQuery
	Format      string  `path:"format" enum:"text,ansi,html,svg,png,md,gemini"`
	Theme       string  `query:"theme" doc:"colours of a picture: dark, light, high-contrast, session, or a known theme, for example dracula"`
	Scale       float64 `query:"scale" minimum:"0" maximum:"8" doc:"size of a picture; 1 is a font of 16 pixels"`
	Padding     int     `query:"padding" minimum:"-1" maximum:"500" doc:"space around a picture in pixels at scale 1; default 8; -1: none"`
	Window      bool    `query:"window" doc:"SVG, PNG: draw a window with a title bar"`
	Margin      int     `query:"margin" minimum:"-1" maximum:"500" doc:"SVG, PNG: space around a picture in pixels at scale 1; default 40 with a window, else none; -1: none"`
	MarginColor string  `query:"margin_color" doc:"SVG, PNG: colour of the margin, #rrggbb"`
	NoCursor    bool    `query:"no_cursor" doc:"omit the cursor"`
	Cursor      string  `query:"cursor" enum:"block,underline,bar" doc:"shape of the cursor; default: the program's"`
	Fonts       string  `query:"fonts" enum:"system,embedded" doc:"PNG: whether to use fonts of the machine"`
	Styles      bool    `query:"styles" doc:"Markdown: list highlighted text"`

	MaxOutput int `query:"max_output" minimum:"-1" maximum:"16777216" doc:"text, ansi, md: bytes, head and tail; default 4096; -1: all"`
}

// screenBudget is the default size of a screen's text.
const screenBudget = 4 << 10

// truncate truncates a screen in a text format to the requested size.
func (in *pictureQuery) truncate(b []byte, id string) []byte {
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
	budget.MoreCommand = func(_, _ uint64) string {
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

// picture is a screen in a format other than JSON. HTML and SVG may be opened as documents: they contain no scripts,
// and the policy forbids them too.
type picture struct {
	ContentType string `header:"Content-Type"`
	Policy      string `header:"Content-Security-Policy"`
	Sniffing    string `header:"X-Content-Type-Options"`
	Body        []byte
}

const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

// paintSlots bounds how many pictures are made at a time: one may take 128 MiB.
var paintSlots = make(chan struct{}, 2)

func (s *Server) getPicture(ctx context.Context, in *pictureQuery) (*picture, error) {
	body, err := s.screenAs(ctx, in)
	if err != nil {
		return nil, err
	}
	if identity.Of(ctx).IsAgent() {
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
	if format.IsWholeScreen(in.Format) {
		in.Since = 0
	}
	o := format.Options{
		Theme: in.Theme, Scale: in.Scale, Padding: in.Padding, Window: in.Window, Margin: in.Margin, MarginColor: in.MarginColor, NoCursor: in.NoCursor, CursorShape: in.Cursor, Fonts: in.Fonts, Styles: in.Styles,
		State: stateText(e.Session.Status()), NoColor: in.NoColor, Trim: in.Trim,
	}
	var frame *vterm.Frame
	var lines []vterm.Line
	err = s.copyScreen(ctx, e, &in.ScreenQuery, func(f *vterm.Frame, history []vterm.Line, m vterm.Modes) {
		frame, lines, o.Reversed = f, history, m.ReverseVideo
	})
	if err != nil {
		return nil, err
	}
	select {
	case paintSlots <- struct{}{}:
		defer func() { <-paintSlots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b, err := format.Append(nil, in.Format, frame, lines, o)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	return in.truncate(b, e.ID()), nil
}

// stateText describes a session's state to readers.
func stateText(st session.Status) string {
	switch {
	case st.Exit == nil || st.State != session.Exited:
		return string(st.State)
	case st.Exit.Signal != "":
		return "ended by signal " + st.Exit.Signal
	}
	return fmt.Sprintf("exited with status %d", st.Exit.Code)
}

// blockConverter converts images to half blocks for single requests. It keeps the blocks for all requests, because browsing a
// history requests the same images again.
type blockConverter struct {
	lock   chan struct{} // held while blocks is used
	blocks render.Blocks
}

// blockTimeout limits a request's time for images. Missing blocks appear in a later request.
const blockTimeout = 500 * time.Millisecond

// show replaces a screen's images by blocks.
func (b *blockConverter) show(ctx context.Context, s *render.Screen, pictures bool) {
	if !s.HasImages() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, blockTimeout)
	defer cancel()
	select {
	case b.lock <- struct{}{}:
		defer func() { <-b.lock }()
	case <-ctx.Done():
		(&render.Blocks{Images: pictures}).Show(ctx, s) // which images there are costs little
		return
	}
	b.blocks.Images = pictures
	b.blocks.Show(ctx, s)
}
