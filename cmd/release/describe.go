package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	_ "embed" // the files of this release's own
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/template"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var (
	//go:embed files/install.sh
	installScript []byte
	//go:embed files/longterm.service
	service []byte
	//go:embed files/longterm.rb
	formula string
	//go:embed files/flake.nix
	flake string
)

// system and archive describe a system and its archives in the terms of Homebrew and Nix.
type (
	system struct {
		Word, os string
		Archives []archive
	}
	archive struct{ CPU, Nix, Name, Sum string }
)

// describe writes the files that refer to the archives: installers, package descriptions and SBOMs.
func (r *release) describe() ([]string, error) {
	values := struct {
		Version, Plain string
		Brew           []system
	}{r.version, r.packageVersion(), nil}
	for _, s := range []system{{Word: "macos", os: "darwin"}, {Word: "linux", os: "linux"}} {
		for _, t := range r.targets {
			if t.os != s.os {
				continue
			}
			name := "longterm_" + r.packageVersion() + "_" + t.os + "_" + t.arch + ".tar.gz"
			sum, err := sumOf(filepath.Join(r.out, name))
			if err != nil {
				return nil, err
			}
			cpu := map[string][2]string{"amd64": {"intel", "x86_64"}, "arm64": {"arm", "aarch64"}}[t.arch]
			s.Archives = append(s.Archives, archive{cpu[0], cpu[1] + "-" + t.os, name, sum})
		}
		if s.Archives != nil {
			values.Brew = append(values.Brew, s)
		}
	}
	var names []string
	for _, d := range []struct{ name, text string }{{"longterm.rb", formula}, {"flake.nix", flake}} {
		t, err := template.New(d.name).Delims("<<", ">>").Parse(d.text)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, values); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(r.out, d.name), b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		names = append(names, d.name)
	}
	if err := os.WriteFile(filepath.Join(r.out, "install.sh"), installScript, 0o755); err != nil {
		return nil, err
	}
	if err := r.writeSBOM(filepath.Join(r.out, r.targets[0].binary()), filepath.Join(r.out, "longterm.cdx.json")); err != nil {
		return nil, err
	}
	return append(names, "install.sh", "longterm.cdx.json"), nil
}

// writeSBOM writes the modules linked into an executable, from its build information, as a CycloneDX document.
func (r *release) writeSBOM(exe, to string) error {
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{
			BOMRef: "longterm", Type: cdx.ComponentTypeApplication, Name: "longterm", Version: r.version,
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}},
			Properties: &[]cdx.Property{{Name: "commit", Value: r.commit}, {Name: "go", Value: info.GoVersion}},
		},
	}
	parts := []cdx.Component{{
		BOMRef: "std", Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + info.GoVersion[2:],
	}}
	refs := []string{"std"}
	for _, m := range info.Deps {
		url := "pkg:golang/" + m.Path + "@" + m.Version
		c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		parts, refs = append(parts, c), append(refs, url)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: "longterm", Dependencies: &refs}}
	return writeAtomically(to, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

// sum writes the checksums of all files, as sha256sum -c reads them.
func (r *release) sum(names []string) error {
	slices.Sort(names)
	return writeAtomically(filepath.Join(r.out, "SHA256SUMS"), func(w io.Writer) error {
		for _, name := range names {
			sum, err := sumOf(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", sum, name); err != nil {
				return err
			}
		}
		return nil
	})
}

func sumOf(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:]), nil
}
