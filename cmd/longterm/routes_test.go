//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/paths"
)

// TestVerbsOfRoutes checks that the verb of each row in the table of routes exists.
func TestVerbsOfRoutes(t *testing.T) {
	root := rootCommand(newApp(), nil)
	for i := range httpapi.Routes {
		r := &httpapi.Routes[i]
		if r.Verb == "" { // only programs request it
			continue
		}
		if c, _, err := root.Find(strings.Fields(r.Verb)); err != nil || c == root || c.CommandPath() != "longterm "+r.Verb {
			t.Errorf("%s names %q, which is no verb", r.ID, r.Verb)
		}
	}
}

// notInClient are routes that the Go client has no method for, and why.
var notInClient = map[string]string{"page": "a socket that the page speaks", "ask-network": "asked by a sandbox's way out, which speaks HTTP itself", "read-output": "read-raw-output has the same bytes as they are"}

// TestClientHasTheRoutes checks that each route has a method of the Go client, and that each method requests an
// existing route.
//
// FEATURES: R86
func TestClientHasTheRoutes(t *testing.T) {
	asked := map[string]bool{}
	mux := http.NewServeMux()
	refuse := func(id string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if asked[id] = true; id == "" {
				t.Errorf("%s %s is no route", r.Method, r.URL.Path)
			}
			w.Header().Set("Content-Type", "application/json")
			if id == "get-session" { // PutFile finds the session first
				_, _ = io.WriteString(w, `{}`)
				return
			}
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"code":"invalid","message":"no"}`)
		}
	}
	for i := range httpapi.Routes {
		r := &httpapi.Routes[i]
		mux.HandleFunc(r.Method+" "+api.Version+r.Path, refuse(r.ID))
	}
	mux.HandleFunc("/", refuse(""))
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dirs := paths.Dirs{Run: dir, State: dir, Config: dir}
	l, err := net.Listen("unix", dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: mux}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	c := client.New(client.Options{Dirs: dirs, Build: func() string { return "test" }})
	for _, of := range []any{c, c.Session("s")} {
		v := reflect.ValueOf(of)
		for i := range v.NumMethod() {
			callAnyhow(t, v.Type().Method(i).Name, v.Method(i))
		}
	}
	c.Close()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	<-served
	for i := range httpapi.Routes {
		id := httpapi.Routes[i].ID
		if _, left := notInClient[id]; asked[id] == left {
			t.Errorf("%s has a method of the client: %v, is in the list of those without one: %v", id, asked[id], left)
		}
	}
}

// callAnyhow calls a method with meaningless arguments.
func callAnyhow(t *testing.T, name string, m reflect.Value) {
	t.Helper()
	if slices.Contains([]string{"Close", "Ensure", "Get"}, name) {
		return
	}
	defer func() {
		if err := recover(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}()
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		in := m.Type().In(i)
		switch {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(t.Context()))
		case in.Kind() == reflect.String:
			args = append(args, reflect.ValueOf("x").Convert(in))
		case in == reflect.TypeFor[func() string]():
			args = append(args, reflect.ValueOf(func() string { return "x" }))
		case m.Type().IsVariadic() && i == m.Type().NumIn()-1:
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	m.Call(args)
}
