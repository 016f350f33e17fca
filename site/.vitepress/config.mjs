// Builds the documentation as a site. The pages are those of the repository, as they are; see scripts/site.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files that are not pages, and to which pages link: they are copied beside the pages. */
const files = new Set();

/** Javadoc is built by Maven; without it, the site has no link to it. */
const javadoc = process.env.SITE_JAVADOC;

const pages = {
  'Use': ['getting-started', 'guarantees', 'configuration', 'schedules', 'testing', 'forwarding', 'http-api', 'migrate'],
  'Operate': ['dashboard', 'operations', 'redis-loss', 'integrity', 'upgrading'],
  'Understand': ['how-it-works', 'performance', 'comparison', 'support', 'glossary']
};

function title(path) {
  return readFileSync(join(root, path), 'utf8').match(/^# (.+)$/m)[1].replaceAll('`', '');
}

function entry(path) {
  return { text: title(path), link: '/' + path.replace(/README\.md$/, '').replace(/\.md$/, '') };
}

function directory(path) {
  return readdirSync(join(root, path)).filter((file) => file.endsWith('.md')).sort().map((file) => entry(join(path, file)));
}

function sidebar() {
  const groups = Object.entries(pages).map(([text, names]) => ({
    text,
    items: names.map((name) => `docs/${name}.md`).filter((path) => existsSync(join(root, path))).map(entry)
  }));
  const migrations = readdirSync(join(root, 'docs')).filter((file) => file.startsWith('migrate-from-')).sort();
  groups[0].items.push(...migrations.map((file) => entry(`docs/${file}`)));
  groups.push({ text: 'Internals', collapsed: true, items: directory('docs/internals') });
  groups.push({ text: 'Decisions', collapsed: true, items: directory('docs/adr') });
  groups.push({ text: 'Project', collapsed: true,
      items: ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'benchmarks/README.md', 'sample-app/README.md'].map(entry) });
  return groups;
}

/** Lets links to README.md lead to the index of a directory, and copies linked files that are not pages. */
function repositoryLinks(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    return (token.info.trim() === 'mermaid') ? `<Mermaid code="${encodeURIComponent(token.content)}" />`
        : fence(tokens, index, options, env, self);
  };
  md.core.ruler.push('repository-links', (state) => {
    for (const token of state.tokens.flatMap((block) => block.children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href && !/^([a-z]+:|#|\/)/.test(href)) {
        const [path, hash] = href.split('#');
        const target = normalize(join(dirname(state.env.relativePath), path)).replace(/(^|\/)index\.md$/, '$1README.md');
        if (!existsSync(join(root, target))) {
          throw new Error(`${state.env.relativePath}: '${href}' leads to no file`);
        }
        if (statSync(join(root, target)).isDirectory()) {
          continue;
        }
        if (target.endsWith('.md')) {
          const page = target.replace(/README\.md$/, 'index.md');
          token.attrSet('href', relative(dirname(state.env.relativePath), page) + (hash ? `#${hash}` : ''));
        }
        else {
          files.add(target);
          token.attrSet('href', '/' + target);
          token.attrSet('target', '_blank');
        }
      }
    }
  });
}

export default {
  title: 'DelayQueue',
  description: 'A delay queue on Redis for Spring Boot',
  srcDir: '..',
  srcExclude: ['**/target/**', '**/node_modules/**', 'integration-tests/**', 'delayqueue-*/**', 'scripts/**', 'site/**'],
  rewrites: (path) => path.replace(/(^|\/)README\.md$/, '$1index.md'),
  outDir: '../target/site',
  cacheDir: '../target/site-cache',
  cleanUrls: true,
  lastUpdated: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: { config: repositoryLinks, theme: { light: 'github-light', dark: 'github-dark' } },
  themeConfig: {
    nav: [
      { text: 'Getting started', link: '/docs/getting-started' },
      { text: 'All pages', link: '/docs/' },
      ...(javadoc ? [{ text: 'Javadoc', link: '/javadoc/index.html', target: '_blank' }] : [])
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' }
  },
  buildEnd({ outDir }) {
    for (const file of files) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      copyFileSync(join(root, file), join(outDir, file));
    }
  },
  vite: {
    // The pages are outside of this directory, and so is what they are rendered with.
    resolve: { alias: { vue: fileURLToPath(new URL('../node_modules/vue', import.meta.url)) } },
    publicDir: false,
    build: { chunkSizeWarningLimit: 2000 }
  }
};
