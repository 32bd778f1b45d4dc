//go:build unix

package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/apitoken"
)

// modernVersion is the first revision of the protocol without sessions.
const modernVersion = "2026-07-28"

// GCPercent is the garbage collector's target for a process that serves many clients. Each request is decoded several
// times into buffers of tens of KiB. The live heap is small compared to them, so the default target would make
// collections nearly continuous.
const GCPercent = 400

// Token grants a client access.
type Token struct {
	Secret string
	Name   string // of the principal; the agent's label
	Level  Level
}

// ParseTokens reads a token file: one per line, TOKEN [LEVEL [NAME]]; # starts a comment.
func ParseTokens(r io.Reader) ([]Token, error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	var all []Token
	for i, line := range strings.Split(string(b), "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		t := Token{Secret: f[0], Name: fmt.Sprintf("token-%d", i+1), Level: All}
		switch {
		case len(t.Secret) < 16:
			return nil, fmt.Errorf("line %d: a token has 16 characters at least", i+1)
		case len(f) > 3:
			return nil, fmt.Errorf("line %d: a line is TOKEN [LEVEL [NAME]]", i+1)
		}
		if len(f) > 1 {
			if t.Level, err = ParseLevel(f[1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		if len(f) > 2 {
			t.Name = f[2]
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, errors.New("no token found in the file")
	}
	return all, nil
}

// LoadTokens reads the tokens of a file, which only its owner may access.
func LoadTokens(path string) ([]Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 %s", path, st.Mode().Perm(), path)
	}
	t, err := ParseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// HTTPServer serves the protocol over HTTP.
type HTTPServer struct {
	Tokens     []Token
	TokenStore *apitoken.Store // tokens of `longterm token new`; nil accepts none
	MaxLevel   Level           // highest level of tokens in TokenStore
	apitoken.Source
	Server func(Level) *sdk.Server
	Log    *slog.Logger

	// scheduling schedules requests; nil: in order of arrival. limitCalls returns its slots.
	scheduling *scheduling
}

// Limits of HTTP.
const (
	maxBody     = 8 << 20
	sessionIdle = 2 * time.Hour
)

// Handler checks access before reading anything of a request, then chooses the handler of the protocol era by the
// header MCP-Protocol-Version. Requests of 2026-07-28 have no sessions; older ones have.
func (d *HTTPServer) Handler() http.Handler {
	server := func(r *http.Request) *sdk.Server {
		t := auth.TokenInfoFromContext(r.Context())
		if t == nil {
			return nil
		}
		l, _ := t.Extra["level"].(Level)
		return d.Server(l)
	}
	modern := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true, Logger: d.Log, DisableLocalhostProtection: true,
	})
	legacy := sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: maxBody, SessionTimeout: sessionIdle, EventStore: newEventStore(), Logger: d.Log, DisableLocalhostProtection: true,
	})
	eras := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Accel-Buffering", "no")
		if r.ContentLength > maxBody {
			writeTooLarge(w)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") >= modernVersion {
			modern.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") != "" {
			w = &resumeWriter{ResponseWriter: w}
		}
		if r.Method == http.MethodPost {
			w = &mismatchWriter{ResponseWriter: w, headerRevision: r.Header.Get("Mcp-Protocol-Version")}
		}
		legacy.ServeHTTP(w, r)
	})
	inTurn := checkIDs(eras)
	if d.scheduling != nil {
		inTurn = d.scheduling.handler(callerOf, inTurn)
	}
	guarded := auth.RequireBearerToken(d.verifyToken, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true, Scopes: nil})(inTurn)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := d.checkSource(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm"`)
			http.Error(w, "no bearer token: send Authorization: Bearer TOKEN with each request; use the token file that `longterm mcp --http` printed at its start, or create one with `longterm token new`", http.StatusUnauthorized)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// writeTooLarge rejects a request body above maxBody.
func writeTooLarge(w http.ResponseWriter) {
	http.Error(w, fmt.Sprintf("request exceeds %d MiB: write longer data to a file with a command, and pass the file name", maxBody>>20), http.StatusRequestEntityTooLarge)
}

// resumeWriter is the response to a client that resumes a stream. After a failure it explains what to do; the SDK
// reports only the failure.
type resumeWriter struct {
	http.ResponseWriter
	rejected bool // the stream cannot be resumed
}

const notResumedText = "stream cannot resume (events expired, or unknown Last-Event-ID): open it without Last-Event-ID; " +
	"nothing that ran is lost: use wait and read with the ids of jobs and sessions and the last cursor; a call repeated with its id is the same call"

// WriteHeader implements http.ResponseWriter.
func (w *resumeWriter) WriteHeader(code int) {
	if code != http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.rejected = true
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(code)
	_, _ = io.WriteString(w.ResponseWriter, notResumedText+"\n") // the client may be gone
}

// Write implements http.ResponseWriter.
func (w *resumeWriter) Write(b []byte) (int, error) {
	if w.rejected { // discards the SDK's message
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher: events must be sent one by one.
func (w *resumeWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap supports http.ResponseController.
func (w *resumeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// callerOf returns the user of an authenticated request.
func callerOf(r *http.Request) string {
	if t := auth.TokenInfoFromContext(r.Context()); t != nil {
		return t.UserID
	}
	return ""
}

// verifyToken looks a token up. All are compared, in constant time.
func (d *HTTPServer) verifyToken(_ context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(secret))
	var is *Token
	for i := range d.Tokens {
		other := sha256.Sum256([]byte(d.Tokens[i].Secret))
		if subtle.ConstantTimeCompare(sum[:], other[:]) == 1 {
			is = &d.Tokens[i]
		}
	}
	if is != nil {
		return &auth.TokenInfo{UserID: is.Name, Scopes: []string{is.Level.String()}, Extra: map[string]any{"level": is.Level}}, nil
	}
	if d.TokenStore == nil {
		return nil, fmt.Errorf("%w; use the token file that `longterm mcp --http` printed at its start", auth.ErrInvalidToken)
	}
	g, err := d.TokenStore.Verify(secret)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; `longterm token new` makes one", auth.ErrInvalidToken, err)
	}
	level := min(g.Level, d.MaxLevel)
	return &auth.TokenInfo{
		UserID: cmp.Or(g.Agent, g.Name), Scopes: []string{level.String()}, Expiration: g.Expires,
		Extra: map[string]any{"level": level, storedToken: g.Name},
	}, nil
}

// storedToken is the key of a token's name in its information, if it is in the store.
const storedToken = "token"

// checkSource rejects requests that a foreign web page made a browser send.
func (d *HTTPServer) checkSource(r *http.Request) error {
	err := d.Check(r)
	var of *apitoken.SourceError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &of) && of.What == "origin":
		return fmt.Errorf("%w; name the origin with --origin", err)
	}
	return fmt.Errorf("%w; name it with --host", err)
}

// Handler returns the server's HTTP handler, for tokens of a file and of a store (or nil), at most at the server's
// level.
func (s *Server) Handler(tokens []Token, stored *apitoken.Store, source apitoken.Source) http.Handler {
	d := &HTTPServer{
		scheduling: s.scheduling,
		Tokens:     tokens, TokenStore: stored, MaxLevel: s.options.Level, Source: source, Log: s.options.Log,
		Server: func(l Level) *sdk.Server { return s.levels[l] },
	}
	return d.Handler()
}
