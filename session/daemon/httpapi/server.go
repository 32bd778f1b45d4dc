//go:build unix

// Package httpapi is the daemon's HTTP half: the table of routes, their handlers and the streams of
// attached clients. It turns requests into what registry and jobs are asked, and their answers and
// errors into those of session/api; it decides nothing about a session itself.
//
// Handlers run on the goroutines of their requests. Rows, columns and offsets are 0-based, times are
// in the machine's zone or RFC 3339.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/member"
	"github.com/longterm-dev/longterm/session/daemon/metrics"
	"github.com/longterm-dev/longterm/session/daemon/pagesocket"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/daemon/sshhosts"
	"github.com/longterm-dev/longterm/session/daemon/subscriptions"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/turns"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store"
)

// Server is the HTTP half of the daemon.
type Server struct {
	daemon Daemon
	reg    *registry.Registry
	jobs   *jobs.Set
	store  *store.Store
	conf   *settings.Settings
	log    *slog.Logger
	build  string
	gate   *gateway.Gateway
	lives  func(*registry.Handle) bool // that a session has something to end; nil: as the registry says, but in tests

	reveals  reveals
	requests metrics.Requests
	drafts   drafts
	endings  endings
	pictures pictureKeys
	page     *web.Door
	onward   *web.Onward // to hosts of the fleet
	overSSH  *web.Onward
	pages    pagesocket.Sockets
	inner    http.Handler // what doors lead to; set by Handler
	stills   stills
	orders   events.Answers // of viewers
	looks    *turns.Turns   // of requests that only look, and are answered at once
	others   *turns.Turns
}

// daemonHost is what requests about the daemon itself ask of it.
type Daemon interface {
	Status(ctx context.Context) api.Status
	Stop(how api.Stop)
	Upgrade(ctx context.Context, path string) error
	Audit() *audit.Log
	Tokens() *access.Store
	// Web is where the page in the browser is served; OpenWeb and CloseWeb change that, for the daemons to come too.
	Web() api.Web
	OpenWeb(o api.OpenWeb) (api.Web, error)
	CloseWeb() error
	// ShareByRelay serves what a token is for to readers of a relay; SharesChanged ends what lost its token.
	ShareByRelay(ctx context.Context, t access.Token, at string) (link string, err error)
	SharesChanged()
	Subscriptions() *subscriptions.Set
	// Fleet is this machine's part in a fleet.
	Fleet() *member.Member
	// SSH are the hosts that the configuration names.
	SSH() *sshhosts.Hosts
	// KeeperPIDs are the processes that sessions' processes descend from.
	KeeperPIDs() []int
}

// New is the HTTP half of a daemon, with what it serves.
func New(d Daemon, h *registry.Registry, j *jobs.Set, st *store.Store, conf *settings.Settings, log *slog.Logger, build string, gate *gateway.Gateway) *Server {
	s := &Server{daemon: d, reg: h, jobs: j, store: st, conf: conf, log: log, build: build, gate: gate, stills: stills{turn: make(chan struct{}, 1)}}
	n := runtime.GOMAXPROCS(0)
	s.looks, s.others = turns.New(2*max(2, n)).Crowds(max(1, n/2)), turns.New(max(2, n)).Crowds(max(1, n/2))
	s.page, s.onward = s.newPageDoor(), web.NewOnward(web.Beyond{
		Dial: s.dialHost, Hosts: "of the fleet", Hint: "`longterm fleet hosts` says which are connected",
	}, writeError, s.log)
	s.overSSH = web.NewOnward(web.Beyond{
		Dial: s.dialSSH, Hosts: "over ssh", Hint: "`longterm -H HOST ls` says more", Header: http.Header{actor.HostHeader: {hosts.As()}},
	}, writeError, s.log)
	s.pages.Host, s.pages.Registry, s.pages.Log, s.pages.Build = pageHost{s}, h, log, build
	return s
}

// Handler serves the API: operations with typed requests and answers by huma, which
// checks them and describes them in OpenAPI, and streams by plain handlers.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.register(mux)
	for _, form := range []string{".json", ".yaml", "-3.0.json", "-3.0.yaml"} {
		mux.HandleFunc("GET "+openAPIPath+form, s.serveOpenAPI)
	}
	mux.HandleFunc("/", noRoute)
	mux.HandleFunc("GET /metrics", s.serveMetrics) // where those who scrape look
	s.inner = s.observed(s.granted(s.labelled(jobs.AfterAnswers(s.inTurn(mux)))))
	return s.inner
}

// openAPIPath is where the API's description is, in several forms.
const openAPIPath = api.Version + "/openapi"

// serveOpenAPI describes the API. Hardly anybody asks: what a daemon keeps for its requests does not describe its answers.
func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	described(mux, s.build)
	mux.ServeHTTP(w, r)
}

// described is the whole API, as it is described on a mux.
func described(mux *http.ServeMux, build string) huma.API {
	s := &Server{}
	a := humago.New(mux, apiConfig(build))
	for i := range Routes {
		if r := &Routes[i]; r.serve == nil {
			r.register(s, a, r.operation())
		}
	}
	return a
}

// servingConfig is apiConfig for who checks requests and describes nothing.
func servingConfig(build string) huma.Config {
	c := apiConfig(build)
	c.OpenAPIPath = ""
	return c
}

// requestSchemas are without those of answers, which are never checked and take nearly half of the room.
type requestSchemas struct {
	huma.Registry
	answer reflect.Type // body of the answer to the route they are of
}

// Schema implements huma.Registry.
func (r *requestSchemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	if t == r.answer {
		return &huma.Schema{}
	}
	return r.Registry.Schema(t, allowRef, hint)
}

func apiConfig(build string) huma.Config {
	c := huma.DefaultConfig("longterm", build)
	c.Info.Description = "Long-lived terminal sessions: start, watch, drive and read them."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "of `longterm token new`; over TCP only (http.listen): the daemon's socket needs none"},
	}
	c.Security = []map[string][]string{{"token": {}}, {}}
	c.OpenAPIPath = openAPIPath
	c.DocsPath, c.SchemasPath = "", ""
	c.CreateHooks = nil // no $schema members in answers
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	return c
}

// jsonFormat is JSON as huma writes it, but for the list that may be of a hundred thousand.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if list, ok := v.([]api.FleetSession); ok {
			return api.FleetSessions(list).WriteJSON(w, false)
		}
		return huma.DefaultJSONFormat.Marshal(w, v)
	},
	Unmarshal: huma.DefaultJSONFormat.Unmarshal,
}

// schemaName names a type in the API's description. What is read from output has names that
// others have too.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case strings.Contains(t.PkgPath(), "/session/output/"):
		return "Parsed" + name
	case strings.HasSuffix(t.PkgPath(), "/session/audit"):
		return "Audit" + name
	}
	return name
}

// OpenAPI is the description of the API in JSON.
func OpenAPI(build string) ([]byte, error) {
	return described(http.NewServeMux(), build).OpenAPI().MarshalJSON()
}

func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return requestError(status, msg, errs)
	}
}

// requestError is what huma found wrong with a request, in our form.
func requestError(status int, msg string, errs []error) *api.Error {
	var parts []string
	for _, err := range errs {
		var detail *huma.ErrorDetail
		switch {
		case err == nil:
		case errors.As(err, &detail): // without the value: it may hold an environment
			parts = append(parts, fmt.Sprintf("%s (%s)", detail.Message, detail.Location))
		default:
			parts = append(parts, err.Error())
		}
	}
	if len(parts) > 0 {
		msg += ": " + strings.Join(parts, "; ")
	}
	if strings.HasPrefix(msg, unreadBody) { // broken off, or not as HTTP has it: no fault of ours
		return api.Errorf(api.CodeInvalid, "%s", msg).WithHint("send the body whole, with its length or in chunks")
	}
	code := api.CodeOfHTTP(status)
	return api.Errorf(code, "%s", msg).WithHint("%s", code.Hint())
}

// unreadBody is what huma says of a body that cannot be read, with the status of a fault.
const unreadBody = "cannot read request body"

// maxBody bounds a request: a paste of 16 MiB in base64.
const maxBody = 32 << 20

// none is an answer without content.
type none struct {
	OK bool `json:"ok"`
}

// SessionPath names a session. It is exported because huma fills embedded fields only then.
type SessionPath struct {
	Session string `path:"session" doc:"id, name, or a unique prefix of either"`
}

// sessionBody is a request about a session.
type sessionBody[T any] struct {
	SessionPath
	Body T
}

// noRoute answers what is no route with an error like any other.
func noRoute(w http.ResponseWriter, r *http.Request) {
	writeError(w, api.Errorf(api.CodeNotFound, "there is no %s %s", r.Method, r.URL.EscapedPath()).
		WithHint("GET %s/openapi.json lists what there is", api.Version))
}
