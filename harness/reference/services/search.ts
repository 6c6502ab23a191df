import type { Resource } from './rest-service.ts';

/** What a cloud search account holds: indexes, the skills that enrich them, and how they are filled and ranked. */
export const SEARCH_RESOURCES: readonly Resource[] = [
  {
    id: 'products',
    type: 'index',
    name: 'Products',
    documents: 48_213,
    fields: ['title', 'description', 'price', 'embedding'],
    updatedAt: '2026-03-02T08:15:00Z',
  },
  {
    id: 'support-articles',
    type: 'index',
    name: 'Support articles (Français, Español)',
    documents: 1_904,
    fields: ['title', 'body', 'language', 'embedding'],
    updatedAt: '2026-03-01T21:40:12Z',
  },
  {
    id: 'article-enrichment',
    type: 'skillset',
    name: 'Article enrichment',
    skills: ['language-detection', 'key-phrases', 'entity-recognition', 'text-embedding'],
  },
  {
    id: 'article-vectors',
    type: 'vector-profile',
    name: 'Article vectors',
    algorithm: 'hnsw',
    dimensions: 1_536,
    metric: 'cosine',
  },
  {
    id: 'article-ranking',
    type: 'semantic-configuration',
    name: 'Article ranking',
    prioritizedFields: { title: 'title', content: ['body'], keywords: ['keyPhrases'] },
  },
  {
    id: 'article-indexer',
    type: 'indexer',
    name: 'Article indexer',
    target: 'support-articles',
    skillset: 'article-enrichment',
    schedule: 'PT1H',
    status: 'success',
  },
];
