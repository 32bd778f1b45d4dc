package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // the formats that packages
	_ "github.com/goreleaser/nfpm/v2/deb" // are made in
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

func host() target { return target{runtime.GOOS, runtime.GOARCH} }

// makeTarget builds the files of one system and returns their names.
func (r *release) makeTarget(t target) ([]string, error) {
	names := []string{t.binary()}
	exe := filepath.Join(r.out, t.binary())
	if err := r.build(t, "longterm", exe); err != nil {
		return nil, err
	}
	within := "longterm"
	if t.os == "windows" {
		within += ".exe"
	}
	list := append([]file{{exe, within, "/usr/bin/longterm", 0o755}}, r.docs...)
	if t.os != "windows" { // where a fleet's server runs
		served := filepath.Join(r.work, "fleetd-"+t.os+"-"+t.arch)
		if err := r.build(t, "longterm-fleetd", served); err != nil {
			return nil, err
		}
		list = append(list, file{served, "longterm-fleetd", "/usr/bin/longterm-fleetd", 0o755})
	}
	base := "longterm_" + r.packageVersion() + "_" + t.os + "_" + t.arch
	pack, name := r.tar, base+".tar.gz"
	if t.os == "windows" {
		pack, name = r.zip, base+".zip"
	}
	if err := writeAtomically(filepath.Join(r.out, name), func(w io.Writer) error { return pack(w, base, list) }); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	names = append(names, name)
	if t.os != "linux" {
		return names, nil
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		name := base + "." + format
		if err := writeAtomically(filepath.Join(r.out, name), func(w io.Writer) error { return r.pack(w, format, t, list) }); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// writeAtomically writes a file completely, or not at all.
func writeAtomically(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		_ = os.Remove(path + ".part")
	}
	return err
}

// tar writes files as a reproducible archive, without times, users or other traces of the builder.
func (r *release) tar(w io.Writer, top string, list []file) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	a := tar.NewWriter(z)
	for _, f := range list {
		b, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: top + "/" + f.name, Mode: int64(f.mode), Size: int64(len(b)), ModTime: r.date, Format: tar.FormatPAX}
		if err := a.WriteHeader(h); err != nil {
			return err
		}
		if _, err := a.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(a.Close(), z.Close())
}

// zip writes files as a reproducible archive.
func (r *release) zip(w io.Writer, top string, list []file) error {
	a := zip.NewWriter(w)
	for _, f := range list {
		b, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: top + "/" + f.name, Method: zip.Deflate, Modified: r.date}
		h.SetMode(f.mode)
		e, err := a.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := e.Write(b); err != nil {
			return err
		}
	}
	return a.Close()
}

func (r *release) pack(w io.Writer, format string, t target, list []file) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "longterm", Arch: t.arch, Platform: t.os, Version: r.version, Section: "utils", Priority: "optional",
		Maintainer: "The longterm authors <longterm-dev@users.noreply.github.com>", Homepage: "https://github.com/longterm-dev/longterm",
		Description: "Terminal sessions that outlive everything, for people and programs", License: "MIT", MTime: r.date,
		DisableGlobbing: true,
		Overridables:    nfpm.Overridables{Contents: r.contents(format, list), RPM: nfpm.RPM{BuildHost: "localhost"}},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	return packager.Package(info, w)
}

// contents returns the files of a package, and the directories that are removed with it. Only Debian has a directory
// for the zsh completions of packages.
func (r *release) contents(format string, list []file) (all files.Contents) {
	own := func(dir string) {
		all = append(all, &files.Content{
			Type: files.TypeDir, Destination: dir,
			FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.date, Owner: "root", Group: "root"},
		})
	}
	own("/usr/share/doc/longterm")
	if format == "rpm" {
		for _, dir := range sharedDirs {
			own(dir)
		}
	}
	for _, f := range list {
		if f.to == "" {
			continue
		}
		to := f.to
		if format != "deb" {
			to = strings.Replace(to, "/zsh/vendor-completions/", "/zsh/site-functions/", 1)
		}
		all = append(all, &files.Content{
			Source: f.from, Destination: to,
			FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.date, Owner: "root", Group: "root"},
		})
	}
	return all
}

// sharedDirs lists directories that other packages also own and that some systems lack. RPM removes a directory created for
// a file only with the last package that owns it; dpkg and apk receive all directories.
var sharedDirs = []string{
	"/usr/lib/systemd", "/usr/lib/systemd/user", "/usr/share/bash-completion", "/usr/share/bash-completion/completions",
	"/usr/share/fish", "/usr/share/fish/vendor_completions.d", "/usr/share/zsh", "/usr/share/zsh/site-functions",
}

// gzipFile compresses a file like a manual page, with neither name nor time.
func gzipFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeAtomically(to, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		z.ModTime = time.Time{}
		_, err = z.Write(b)
		return errors.Join(err, z.Close())
	})
}
