import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianTar } from '../debian';
import { cacheFolder } from '../folders';
import { withLock } from '../lock';
import type { Progress } from '../progress';
import { type CatalogEntry, catalog } from './catalog';
import { fullName, ImageStore } from './image-store';
import { type SmallImage, busyboxImage, packSmallImage, pauseImage } from './small-images';

type Image = CatalogEntry | SmallImage;

const known: readonly Image[] = [...catalog, busyboxImage, pauseImage];

/** The images that all clusters of this machine share. */
export const sharedImages = new ImageStore(cacheFolder('images'));

/** Makes the images that are not there yet, one after the other: each keeps both cores busy. */
export async function ensureImages(names: readonly string[], progress: Progress): Promise<void> {
  for (const image of new Set(names.map(imageOf))) await ensure(image, progress);
}

/** All names under which images can be had, each with what it really is. */
export function imageNames(): { name: string; really: string }[] {
  return known.flatMap((image) => image.names.map((name) => ({ name, really: 'title' in image ? image.title : image.names[0]! })));
}

/** A file of the key remembers the digest, so that a changed recipe is a new image. */
async function ensure(image: Image, progress: Progress): Promise<void> {
  mkdirSync(sharedImages.folder, { recursive: true });
  const record = join(sharedImages.folder, `${keyOf(image)}.digest`);
  const digestOf = (): string | undefined => (existsSync(record) ? readFileSync(record, 'utf8') : undefined);
  if (isTagged(image.names, digestOf())) return;
  await withLock(record, async () => {
    let digest = digestOf();
    if (!digest || !sharedImages.has(digest)) {
      digest = await sharedImages.addImage(await layerOf(image, progress), image.config);
      writeFileSync(record, digest);
    }
    await sharedImages.tag(image.names, digest);
  });
}

/** A tar file that the image store may take away. */
async function layerOf(image: Image, progress: Progress): Promise<string> {
  if ('recipe' in image) return debianTar(fileName(image), image.recipe, progress);
  const tar = join(sharedImages.folder, `.building-${process.pid}-${fileName(image)}.tar`);
  await packSmallImage(image, tar, progress);
  return tar;
}

function isTagged(names: readonly string[], digest: string | undefined): boolean {
  return digest !== undefined && sharedImages.has(digest) && names.every((name) => sharedImages.find(name) === digest);
}

function imageOf(name: string): Image {
  const image = known.find(({ names }) => names.some((one) => fullName(one) === fullName(name)));
  if (!image) throw new Error(`no image '${name}' can be made here; there are ${known.flatMap(({ names }) => names).join(', ')}`);
  return image;
}

function keyOf(image: Image): string {
  const text = JSON.stringify('recipe' in image ? [image.recipe, image.config] : [image.config, image.madeFrom, image.fill.toString()]);
  return `${fileName(image)}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

function fileName(image: Image): string {
  return image.names[0]!.replace(/^.*\//, '').replace(':', '-');
}
