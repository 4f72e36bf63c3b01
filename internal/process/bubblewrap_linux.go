package process

// arguments are bwrap's for the view, with our own binary as the first process
// in it. Toolchain caches have no layers: not every bwrap can make one.
func (v *view) arguments(program string) []string {
	args := []string{
		program, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1",
		"--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if v.Offline {
		args = append(args, "--unshare-net")
	}
	var closed []string
	for i := range v.Mounts {
		m := v.Mounts[i]
		if m.Change == layer {
			m.withoutOverlay()
		}
		switch {
		case m.Change == hide && m.File:
			args = append(args, "--ro-bind", "/dev/null", m.Path)
		case m.Change == hide && m.Open:
			args = append(args, "--perms", "1777", "--tmpfs", m.Path)
		case m.Change == hide:
			args = append(args, "--perms", "0755", "--tmpfs", m.Path)
			closed = append(closed, "--remount-ro", m.Path)
		case m.Change == show:
			args = append(args, "--ro-bind", m.Source, m.Path)
		default:
			args = append(args, "--bind", m.Source, m.Path)
		}
	}
	return append(append(args, closed...), "--chdir", "/", "--", ownDescriptor, insideName)
}
